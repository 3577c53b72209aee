package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/load/wire/sse"
)

var longAgo = time.Unix(1, 0)

// socketConn is one connection of ours and the answer that it carries.
type socketConn struct {
	conn   net.Conn // of a connection without descriptor, which no loop can wait for
	fd     int
	loop   *loop // nil: conn is set
	done   chan struct{}
	stamps *stamper
	made   time.Time
	reused bool // a request was sent on it before this one

	work  worker // under the loop's lock, as are awake and round
	awake bool   // something happened while there was no work
	round int
	reads int // in this round

	body     bodyDecoder
	ahead    []byte // came with the head
	aheadAt  time.Duration
	spoiled  bool  // the connection cannot carry another request
	empty    bool  // nothing to read until something happens
	thorough bool  // a short read does not mean that nothing is left
	roomTold bool  // the loop learns when there is room to write
	failed   error // ends all reading
	canceled atomic.Bool

	// used by the loop alone once there is work, before that under its lock
	emptied time.Time // when nothing was left to read
	since   time.Time // nothing of the latest read arrived before
	drained bool      // nothing came since emptied, as far as epoll reported
	exact   bool      // the latest read has a stamp of the kernel
	same    sameStamp
	waiting waiting

	lastAt time.Duration // of the latest arrival
	gap    time.Duration // between arrivals, rather the short ones; 0: not known
	due    time.Time     // until when the next is not late
	cuts   cuts
}

// newSocketConn takes conn over.
func newSocketConn(conn net.Conn, ls *loops) (*socketConn, error) {
	fd, ok := ownDescriptor(conn)
	if !ok {
		return &socketConn{conn: conn, made: time.Now()}, nil
	}
	return joined(fd, conn.LocalAddr().Network() != "tcp", ls)
}

// joined gives the socket fd to one of the loops, or closes it. The loop may see
// events of it at once.
func joined(fd int, thorough bool, ls *loops) (*socketConn, error) {
	c := &socketConn{fd: fd, thorough: thorough, made: time.Now(), done: make(chan struct{}, 1)}
	if err := ls.join(c); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return c, nil
}

func (c *socketConn) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
		return
	}
	c.loop.leave(c)
	_ = unix.Close(c.fd)
}

// drive makes the loop call w.step until it returns true. finished waits for that.
func (c *socketConn) drive(w worker) {
	if c.loop != nil {
		c.loop.drive(c, w)
		return
	}
	c.work = w
}

func (c *socketConn) finished() {
	if c.loop != nil {
		<-c.done
		return
	}
	for !c.work.step() {
	}
}

// scratch returns the loop's scratch, nil without a loop.
func (c *socketConn) scratch() *sse.Scratch {
	if c.loop == nil {
		return nil
	}
	return &c.loop.scratch
}

// cancel ends every wait on the connection at once.
func (c *socketConn) cancel() {
	c.canceled.Store(true)
	if c.conn != nil {
		_ = c.conn.SetDeadline(longAgo)
		return
	}
	c.loop.schedule(c)
}

// watchContext cancels the connection's waits once ctx ends. The function that it
// returns undoes that.
func (c *socketConn) watchContext(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, c.cancel)
}

// silent reports whether the connection is open and nothing arrived on it.
func (c *socketConn) silent() bool {
	if c.conn != nil {
		return true
	}
	var b [1]byte
	_, _, err := unix.Recvfrom(c.fd, b[:], unix.MSG_DONTWAIT|unix.MSG_PEEK)
	return errors.Is(err, unix.EAGAIN)
}

// write writes what the socket takes of parts.
func (c *socketConn) write(parts *net.Buffers) error {
	if c.conn != nil {
		_, err := parts.WriteTo(c.conn)
		return err
	}

	for len(*parts) > 0 {
		n, err := unix.Writev(c.fd, *parts)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			if err := c.loop.tellRoom(c); err != nil {
				return err
			}
			return sse.ErrWouldBlock
		case err != nil:
			return os.NewSyscallError("writev", err)
		}
		consume(parts, n)
	}

	return nil
}

func consume(parts *net.Buffers, n int) {
	for len(*parts) > 0 && n >= len((*parts)[0]) {
		n -= len((*parts)[0])
		*parts = (*parts)[1:]
	}
	if n > 0 {
		(*parts)[0] = (*parts)[0][n:]
	}
}

// read reads and stamps bytes. It never waits for a socket.
func (c *socketConn) read(p []byte) (n int, at time.Duration, err error) {
	switch {
	case c.failed != nil:
		return 0, c.stamps.clock.Now(), c.failed
	case c.conn != nil:
		n, err = c.conn.Read(p)
		return n, c.stamps.clock.Now(), err
	case c.canceled.Load():
		return 0, c.stamps.clock.Now(), os.ErrDeadlineExceeded
	case c.empty:
		return 0, 0, sse.ErrWouldBlock
	}

	n, at, err = c.loop.receive(c, p)
	if err == sse.ErrWouldBlock { //nolint:errorlint // never wrapped, and asked for each event
		return 0, 0, err
	}
	if err != nil {
		at = c.stamps.clock.Now()
	}

	return n, at, err
}

// ReadStamped reads the body with its framing taken out.
func (c *socketConn) ReadStamped(p []byte) (int, time.Duration, error) {
	for {
		raw, at, err := c.next(p)
		if raw == 0 && err != nil {
			return 0, at, err
		}

		n, used, bad := c.body.decode(p[:raw])
		if used < raw {
			c.spoiled = true
		}

		if bad != nil {
			c.failed = bad
			return n, at, bad
		}

		if c.body.over() {
			c.failed = io.EOF
			return n, at, io.EOF
		}

		if n > 0 {
			return n, at, nil
		}
	}
}

// next returns bytes of the body as they came, framing included: first those that
// came with the head.
func (c *socketConn) next(p []byte) (n int, at time.Duration, err error) {
	switch {
	case len(c.ahead) > 0:
		n = copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, c.aheadAt, nil
	case c.failed == nil && c.body.over():
		c.failed = io.EOF
	}

	n, at, err = c.read(p)
	if n == 0 && err != nil && err != sse.ErrWouldBlock { //nolint:errorlint // as above
		if errors.Is(err, io.EOF) && c.failed == nil {
			err = c.body.cut()
		}
		c.failed = err
	}

	return n, at, err
}
