package wire

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// direct opens TCP connections by system calls alone: net.Dialer costs a goroutine, a timer
// and more than ten calls for each, among them those for the runtime's poller, from which the
// socket would have to be taken out again.
type direct struct {
	address atomic.Pointer[netip.AddrPort] // nil: not known yet
	limit   time.Duration                  // for one connection; 0: none
}

// resolve notes the address if host is one and needs no look-up.
func (d *direct) resolve(host, port string) {
	if addr, err := netip.ParseAddrPort(net.JoinHostPort(host, port)); err == nil && addr.Addr().Zone() == "" {
		d.address.Store(&addr)
	}
}

// learn notes which address a name led to, if it is one of this machine. Other names
// are looked up each time: they may stand for several addresses.
func (d *direct) learn(conn net.Conn) {
	if remote, ok := conn.RemoteAddr().(*net.TCPAddr); ok && remote.IP.IsLoopback() && remote.Zone == "" {
		addr := remote.AddrPort()
		d.address.Store(&addr)
	}
}

// connect begins to open a connection to addr. open is false if that takes longer.
func connect(addr netip.AddrPort) (fd int, open bool, err error) {
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: addr.Addr().As16(), Port: int(addr.Port())})
	if ip := addr.Addr().Unmap(); ip.Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Addr: ip.As4(), Port: int(addr.Port())}
	}

	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if err != nil {
		return -1, false, dialError(addr, os.NewSyscallError("socket", err))
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if !addr.Addr().IsLoopback() {
		keepAlive(fd)
	}
	askForArrivals(fd)

	switch err = unix.Connect(fd, to); {
	case err == nil:
		open = true
	case errors.Is(err, unix.EINPROGRESS):
		open, err = connected(fd)
	}
	if err == nil && open && isItself(fd, to) {
		err = unix.ECONNREFUSED
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, false, dialError(addr, os.NewSyscallError("connect", err))
	}

	return fd, open, nil
}

func dialError(addr netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(addr), Err: err}
}

// connected reports whether a connection that was begun is open. An error means that it
// never will be.
func connected(fd int) (bool, error) {
	room := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	if n, err := unix.Poll(room, 0); n < 1 || err != nil {
		return false, nil //nolint:nilerr // interrupted: it is asked again
	}
	failed, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && failed != 0 {
		err = unix.Errno(failed)
	}
	return err == nil, err
}

// isItself reports whether a connection ends in itself: the kernel may give its own end
// the very port of this machine on which nobody listens, and TCP then opens it.
func isItself(fd int, to unix.Sockaddr) bool {
	own, err := unix.Getsockname(fd)
	if err != nil {
		return false
	}
	switch own := own.(type) {
	case *unix.SockaddrInet4:
		to, ok := to.(*unix.SockaddrInet4)
		return ok && own.Addr == to.Addr && own.Port == to.Port
	case *unix.SockaddrInet6:
		to, ok := to.(*unix.SockaddrInet6)
		return ok && own.Addr == to.Addr && own.Port == to.Port
	}
	return false
}

// keepAlive makes the kernel probe a silent server every 15 s and give up after nine
// probes, as net.Dialer does.
func keepAlive(fd int) {
	const seconds, probes = 15, 9
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, seconds)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, seconds)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, probes)
}

// open opens a connection to addr and gives it to one of the loops.
func (d *direct) open(ctx context.Context, addr netip.AddrPort, ls *loops) (*socketConn, error) {
	if err := ctx.Err(); err != nil {
		return nil, dialError(addr, err)
	}
	fd, open, err := connect(addr)
	if err != nil {
		return nil, err
	}

	c, err := joined(fd, false, ls)
	if err != nil || open {
		return c, err
	}
	if err := d.await(ctx, c); err != nil {
		c.Close()
		return nil, dialError(addr, err)
	}
	return c, nil
}

// await waits until a connection is open that was begun.
func (d *direct) await(ctx context.Context, c *socketConn) error {
	if d.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d.limit, os.ErrDeadlineExceeded)
		defer cancel()
	}

	if err := c.loop.tellRoom(c); err != nil {
		return err
	}
	w := &connecting{c: c}
	stop := c.watchContext(ctx)
	c.drive(w)
	c.finished()
	if !stop() {
		return context.Cause(ctx)
	}
	return os.NewSyscallError("connect", w.err)
}

// connecting is the work on a connection that is not open yet.
type connecting struct {
	c   *socketConn
	err error
}

func (w *connecting) step() (over bool) {
	if w.c.canceled.Load() {
		return true
	}
	over, w.err = connected(w.c.fd)
	return over || w.err != nil
}
