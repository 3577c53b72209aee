package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var longAgo = time.Unix(1, 0)

// socketConn is one connection of ours and the answer that it carries.
type socketConn struct {
	conn   net.Conn
	raw    syscall.RawConn // nil: a connection without descriptor, read by Read
	recv   receiver
	stamps *stamper
	made   time.Time
	reused bool // a request was sent on it before this one

	body      bodyDecoder
	ahead     []byte // came with the head
	aheadAt   time.Duration
	spoiled   bool    // the connection cannot carry another request
	stepping  bool    // within drive
	fd        uintptr // while stepping
	empty     bool    // nothing to read until woken
	failed    error   // ends all reading
	wakes     atomic.Int64
	seenWakes int64 // of the sweeper
	kicked    bool  // by the sweeper, under its lock while it knows the connection
	canceled  atomic.Bool
}

func newSocketConn(conn net.Conn, s *stamper) *socketConn {
	c := &socketConn{conn: conn, raw: rawSocket(conn), stamps: s, made: time.Now()}
	if c.raw != nil {
		if err := c.raw.Control(func(fd uintptr) { c.recv.prepare(int(fd)) }); err != nil {
			c.raw = nil
		}
	}
	return c
}

// cancel makes every wait on the connection end at once.
func (c *socketConn) cancel() {
	c.canceled.Store(true)
	_ = c.conn.SetDeadline(longAgo)
}

// watchContext ends the waits when ctx does. The function it returns undoes
// that.
func (c *socketConn) watchContext(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, c.cancel)
}

// read waits for bytes and stamps them.
func (c *socketConn) read(p []byte) (n int, at time.Duration, err error) {
	if c.failed != nil {
		return 0, c.stamps.clock.now(), c.failed
	}
	if c.raw == nil {
		n, err = c.conn.Read(p)
		return n, c.stamps.clock.now(), err
	}
	if c.stepping {
		return c.readStep(p)
	}
	return c.readWaiting(p)
}

// readWaiting allocates, which readStep must not.
func (c *socketConn) readWaiting(p []byte) (n int, at time.Duration, err error) {
	var wall int64
	waited := c.raw.Read(func(fd uintptr) bool {
		n, wall, _, err = c.recv.receive(fd, p)
		return !errors.Is(err, errWouldBlock)
	})
	if waited != nil {
		err = waited
	}
	return n, c.stamps.stamp(wall), err
}

// readStep is read without waiting. A socket that is known to be empty is not
// asked again: its next bytes wake the waiter in any case, since the runtime
// watches for edges and no wait has begun in between.
func (c *socketConn) readStep(p []byte) (n int, at time.Duration, err error) {
	if c.empty {
		return 0, 0, errWouldBlock
	}
	var wall int64
	n, wall, c.empty, err = c.recv.receive(c.fd, p)
	if errors.Is(err, errWouldBlock) {
		return 0, 0, errWouldBlock
	}
	return n, c.stamps.stamp(wall), err
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

// next gives bytes of the body as they came: first those that came with the
// head.
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
	if n == 0 && err != nil && !errors.Is(err, errWouldBlock) {
		if errors.Is(err, io.EOF) && c.failed == nil {
			err = c.body.cut()
		}
		c.failed = err
	}
	return n, at, err
}

// drive calls step each time bytes have come, until it returns true. Within
// it reads do not wait, so that an event costs one system call and no switch
// between goroutines beyond the one that wakes this one.
func (c *socketConn) drive(step func() bool, s *sweeper) {
	if c.raw == nil {
		for !step() {
		}
		return
	}
	s.add(c)
	c.stepping = true
	defer func() {
		c.stepping = false
		s.remove(c)
		if c.kicked {
			c.kicked = false
			c.resume()
		}
	}()
	done := false
	for !done {
		err := c.raw.Read(func(fd uintptr) bool {
			c.fd, c.empty = fd, false
			c.wakes.Add(1)
			done = step()
			return done
		})
		switch {
		case done:
		case errors.Is(err, os.ErrDeadlineExceeded) && !c.canceled.Load():
			c.resume() // a kick: nothing else sets a deadline
		case err != nil:
			c.failed = err
			done = step()
		}
	}
}

// resume takes back the deadline of a kick, but not one that cancel set
// meanwhile.
func (c *socketConn) resume() {
	_ = c.conn.SetReadDeadline(time.Time{})
	if c.canceled.Load() {
		_ = c.conn.SetReadDeadline(longAgo)
	}
}

// sweepPeriod is how long a stream is silent before its socket is looked at
// without having been woken.
const sweepPeriod = time.Second

// sweeper looks after streams that are silent: a reset that comes in one edge
// with bytes before it is told only once.
type sweeper struct {
	mu    sync.Mutex
	conns map[*socketConn]struct{}
	stop  chan struct{}
	done  sync.WaitGroup
}

func (s *sweeper) add(c *socketConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns, s.stop = map[*socketConn]struct{}{}, make(chan struct{})
		s.done.Go(s.run)
	}
	c.seenWakes = -1
	s.conns[c] = struct{}{}
}

func (s *sweeper) remove(c *socketConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *sweeper) run() {
	tick := time.NewTicker(sweepPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.sweep()
		case <-s.stop:
			return
		}
	}
}

func (s *sweeper) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		wakes := c.wakes.Load()
		if wakes == c.seenWakes {
			c.kicked = true
			_ = c.conn.SetReadDeadline(longAgo)
		}
		c.seenWakes = wakes
	}
}

func (s *sweeper) close() {
	s.mu.Lock()
	running := s.stop
	s.mu.Unlock()
	if running != nil {
		close(running)
		s.done.Wait()
	}
}
