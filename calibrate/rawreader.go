package calibrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// rawReader is the least that a client of this machine can do: one thread, one
// epoll set, one read for each time a socket is ready, a stamp, and the
// positions of the events. What it costs is the floor for any client.
type rawReader struct {
	ep      int
	conns   map[int32]*rawConn
	events  []unix.EpollEvent
	scratch []byte
	request []byte
	sent    int64 // when the burst began
	open    int
}

// rawConn is one connection of a rawReader.
type rawConn struct {
	fd      int
	writing bool
	want    int
	at      []int64 // arrival of each event, CLOCK_MONOTONIC
	wrote   []int64 // when the feeder wrote it
}

// readRaw opens width streams at once and reads them to their end. It returns
// the times of every stream and when the burst began.
func readRaw(ctx context.Context, addr string, p pace, width int) ([]*rawConn, int64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	server, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, 0, err
	}
	r := &rawReader{
		conns: make(map[int32]*rawConn, width), events: make([]unix.EpollEvent, 512), scratch: make([]byte, 64<<10),
		request: fmt.Appendf(nil, "POST %s/v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}", p.path(), addr),
	}
	if r.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, 0, err
	}
	conns := make([]*rawConn, 0, width)
	defer func() {
		for _, c := range conns {
			_ = unix.Close(c.fd)
		}
		_ = unix.Close(r.ep)
	}()
	for range width {
		c := &rawConn{want: p.tokens, at: make([]int64, 0, p.tokens), wrote: make([]int64, 0, p.tokens)}
		conns = append(conns, c)
	}
	r.sent = monotonic()
	for _, c := range conns {
		if err := r.connect(c, server); err != nil {
			return nil, 0, fmt.Errorf("connect to feeder: %w", err)
		}
	}
	for r.open = width; r.open > 0; {
		if err := r.turn(); err != nil {
			return nil, 0, err
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
	}
	return conns, r.sent, nil
}

func (r *rawReader) connect(c *rawConn, to netip.AddrPort) (err error) {
	if c.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	r.conns[int32(c.fd)] = c
	if err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}
	err = unix.Connect(c.fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	c.writing = true
	return unix.EpollCtl(r.ep, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLET&0xffffffff, Fd: int32(c.fd)})
}

func (r *rawReader) turn() error {
	n, err := unix.EpollWait(r.ep, r.events, 1000)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	for _, e := range r.events[:max(n, 0)] {
		c := r.conns[e.Fd]
		if c.writing && e.Events&unix.EPOLLOUT != 0 {
			c.writing = false
			if n, err := unix.Write(c.fd, r.request); n != len(r.request) {
				return fmt.Errorf("write request: %w", err)
			}
		}
		if e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) == 0 || c.want == 0 {
			continue
		}
		if err := r.read(c); err != nil {
			return err
		}
	}
	return nil
}

// read reads until less comes than was asked for: then the socket is empty and
// the next bytes bring an edge of their own.
func (r *rawReader) read(c *rawConn) error {
	for c.want > 0 {
		n, err := unix.Read(c.fd, r.scratch)
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err != nil || n == 0 {
			return fmt.Errorf("read from feeder: %d bytes, %w", n, errors.Join(err, errCut))
		}
		c.note(r.scratch[:n], monotonic())
		if c.want == 0 {
			r.open--
		}
		if n < len(r.scratch) {
			return nil
		}
	}
	return nil
}

var errCut = errors.New("the stream ended early")

// note finds the events of a read. One that is cut by the read's end would be
// missed; the feeder's writes are whole and the sockets' buffers ample, so this
// happens in unpaced runs only, which count bytes.
func (c *rawConn) note(b []byte, at int64) {
	if bytes.HasSuffix(b, []byte("\r\n0\r\n\r\n")) {
		c.want = 0
	}
	for {
		i := bytes.Index(b, []byte(`"text":"`))
		if i < 0 || len(b) < i+8+timeDigits {
			return
		}
		c.at = append(c.at, at)
		c.wrote = append(c.wrote, parseTime(b[i+8:i+8+timeDigits]))
		b = b[i+8+timeDigits:]
	}
}

func parseTime(digits []byte) int64 {
	n := int64(0)
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	return n
}

// lateness of every event of the streams, sorted, in seconds.
func lateness(conns []*rawConn) []float64 {
	var late []float64
	for _, c := range conns {
		for i := range c.at {
			late = append(late, float64(c.at[i]-c.wrote[i])/1e9)
		}
	}
	slices.Sort(late)
	return late
}
