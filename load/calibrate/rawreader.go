package calibrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

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
	server  netip.AddrPort
	tokens  int  // of an answer
	timed   bool // note the events
	opening int  // connections that are not open yet
	open    int  // answers that have not ended
	unsent  int  // requests that wait for an answer to end
	all     []*rawConn
}

// rawConn is one connection of a rawReader.
type rawConn struct {
	fd      int
	opening bool
	sending bool    // the request is sent once the connection is open
	sent    int64   // when the request was sent, CLOCK_MONOTONIC, as all here
	left    int     // bytes of the answer to come
	at      []int64 // arrival of each event
	wrote   []int64 // when the feeder wrote it
	end     int64
}

// readRaw opens width connections, sends a request on each at once and reads the answers to
// their end. Where more requests are wanted, each goes out on a new connection once an answer
// has ended. It returns the times of every answer, when the burst began, and the CPU time from then on.
func readRaw(ctx context.Context, addr string, p pace, width, requests int) ([]*rawConn, int64, time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	server, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, 0, 0, err
	}

	r := &rawReader{
		conns: make(map[int32]*rawConn, width), events: make([]unix.EpollEvent, 512), scratch: make([]byte, 64<<10),
		server: server, tokens: p.tokens, timed: p.gap > 0, unsent: requests - width,
		request: fmt.Appendf(nil, "POST %s/v1/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: 2\r\n\r\n{}",
			p.path(), addr),
	}

	if r.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, 0, 0, err
	}

	defer func() {
		for fd := range r.conns {
			_ = unix.Close(int(fd))
		}
		_ = unix.Close(r.ep)
	}()
	for range width {
		if err := r.connect(new(rawConn)); err != nil {
			return nil, 0, 0, fmt.Errorf("connect to feeder: %w", err)
		}
	}

	if err := r.until(ctx, &r.opening); err != nil {
		return nil, 0, 0, err
	}

	before, start := usedCPU(), monotonic()
	r.open = width
	for _, c := range r.all {
		if err := r.send(c); err != nil {
			return nil, 0, 0, err
		}
	}

	err = r.until(ctx, &r.open)
	return r.all, start, usedCPU() - before, err
}

// answerSize is the length of a feeder's answer of so many tokens.
func answerSize(tokens int) int {
	return len(answerTop) + tokens*len(appendEvent(nil, 0)) + len(answerEnd)
}

func (r *rawReader) connect(c *rawConn) (err error) {
	c.left = answerSize(r.tokens)
	if r.timed {
		c.at, c.wrote = make([]int64, 0, r.tokens), make([]int64, 0, r.tokens)
	}
	if c.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}

	r.conns[int32(c.fd)] = c
	r.all = append(r.all, c)
	if err := unix.SetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}

	err = unix.Connect(c.fd, &unix.SockaddrInet4{Addr: r.server.Addr().As4(), Port: int(r.server.Port())})
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return err
	}

	c.opening = true
	r.opening++
	edge := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLET&0xffffffff, Fd: int32(c.fd)}
	return unix.EpollCtl(r.ep, unix.EPOLL_CTL_ADD, c.fd, &edge)
}

func (r *rawReader) send(c *rawConn) error {
	c.sent = monotonic()
	if n, err := unix.Write(c.fd, r.request); n != len(r.request) {
		return fmt.Errorf("write request: %w", err)
	}
	return nil
}

// next puts the next request in the place of an answer that has ended.
func (r *rawReader) next(ended *rawConn) error {
	delete(r.conns, int32(ended.fd))
	if err := unix.Close(ended.fd); err != nil {
		return err
	}
	r.unsent--
	r.open++
	return r.connect(&rawConn{sending: true})
}

// until handles what happens on the sockets until *count is 0.
func (r *rawReader) until(ctx context.Context, count *int) error {
	for *count > 0 {
		n, err := unix.EpollWait(r.ep, r.events, 1000)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range r.events[:max(n, 0)] {
			c := r.conns[e.Fd]
			if c == nil {
				continue
			}
			if c.opening && e.Events&unix.EPOLLOUT != 0 {
				c.opening = false
				r.opening--
				if c.sending {
					if err := r.send(c); err != nil {
						return err
					}
				}
			}
			if e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) == 0 || c.left == 0 {
				continue
			}
			if err := r.read(c); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}

	return nil
}

// read reads until less comes than was asked for: then the socket is empty and
// the next bytes bring an edge of their own.
func (r *rawReader) read(c *rawConn) error {
	for c.left > 0 {
		n, err := unix.Read(c.fd, r.scratch)
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err != nil || n == 0 {
			return fmt.Errorf("read from feeder: %d bytes, %w", n, errors.Join(err, errCut))
		}
		c.end = monotonic()
		if r.timed {
			c.note(r.scratch[:n], c.end)
		}
		if c.left -= n; c.left == 0 {
			if r.open--; r.unsent > 0 {
				return r.next(c)
			}
		}
		if n < len(r.scratch) {
			return nil
		}
	}

	return nil
}

var errCut = errors.New("the stream ended early")

// note finds the events of a read. The feeder writes whole events when it
// paces them, so that none is split.
func (c *rawConn) note(b []byte, at int64) {
	mark := []byte(`"text":"`)
	for {
		i := bytes.Index(b, mark)
		if i < 0 || len(b) < i+len(mark)+timeDigits {
			return
		}
		b = b[i+len(mark):]
		c.at = append(c.at, at)
		c.wrote = append(c.wrote, parseTime(b[:timeDigits]))
		b = b[timeDigits:]
	}
}

func parseTime(digits []byte) int64 {
	n := int64(0)
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	return n
}
