package simserver

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// backlog of connections not yet accepted; the kernel may cap it.
const backlog = 4096

// port is a bound socket that does not listen yet: connecting is refused, and
// so is a plain bind. That is how vLLM holds its port while it loads. As there,
// SO_REUSEADDR is set; Linux lets two such sockets share a port until one
// listens, so that the other fails only then.
type port struct {
	fd   int
	addr string
}

// bindPort takes the address host:number; number 0 takes any free port.
func bindPort(host string, number int) (*port, error) {
	tcp, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, strconv.Itoa(number)))
	if err != nil {
		return nil, fmt.Errorf("resolve --host %q: %w", host, err)
	}

	family, addr := socketAddr(tcp)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}

	p := &port{fd: fd}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, addr)
	}
	if err == nil {
		p.addr, err = boundAddr(fd)
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("bind %s:%d: %w", host, number, err)
	}

	return p, nil
}

func socketAddr(a *net.TCPAddr) (int, unix.Sockaddr) {
	if v4 := a.IP.To4(); v4 != nil || a.IP == nil {
		s := &unix.SockaddrInet4{Port: a.Port}
		copy(s.Addr[:], v4)
		return unix.AF_INET, s
	}
	s := &unix.SockaddrInet6{Port: a.Port}
	copy(s.Addr[:], a.IP.To16())
	return unix.AF_INET6, s
}

func boundAddr(fd int) (string, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return "", err
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return (&net.TCPAddr{IP: a.Addr[:], Port: a.Port}).String(), nil
	case *unix.SockaddrInet6:
		return (&net.TCPAddr{IP: a.Addr[:], Port: a.Port}).String(), nil
	}
	return "", fmt.Errorf("unexpected address %T", sa)
}

// listen makes the port accept connections and gives it away.
func (p *port) listen() (net.Listener, error) {
	if err := unix.Listen(p.fd, backlog); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", p.addr, err)
	}
	f := os.NewFile(uintptr(p.fd), p.addr)
	p.fd = -1
	defer func() { _ = f.Close() }() // FileListener has its own copy
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", p.addr, err)
	}
	return l, nil
}

// close gives the port back, unless listen gave it away.
func (p *port) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
		p.fd = -1
	}
}
