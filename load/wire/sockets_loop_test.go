package wire

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/wire/sse"
)

// stepFunc is a worker.
type stepFunc func() bool

func (f stepFunc) step() bool { return f() }

// TestSocketsDoNotAllocate: an event that comes alone costs no allocation from
// the socket to the decoded body. What else runs in the process allocates now and
// then, more so on a busy machine: one allocation for each event can be distinguished from that.
func TestSocketsDoNotAllocate(t *testing.T) {
	loadtest.OnSockets(t)
	const most = 0.5
	if got := allocationsPerEvent(t); got > most {
		t.Errorf("%.3f allocations per event, want next to none", got)
	}
}

func allocationsPerEvent(t *testing.T) float64 {
	t.Helper()
	c, server := loopedConn(t)
	piece, buf := []byte(loadtest.Event(loadtest.Token)), make([]byte, 4096)
	var events atomic.Int64
	const warm, most = 100, 2000
	var before, after runtime.MemStats
	go func() {
		for range most {
			seen := events.Load()
			if _, err := server.Write(piece); err != nil {
				return
			}
			for events.Load() == seen && t.Context().Err() == nil {
				runtime.Gosched()
			}
		}
	}()
	c.drive(stepFunc(func() bool {
		for {
			n, _, err := c.ReadStamped(buf)
			if errors.Is(err, sse.ErrWouldBlock) {
				return false
			}
			if err != nil || n == 0 {
				t.Error(err)
				return true
			}
			got := events.Add(int64(n / (len(loadtest.Token) + 8)))
			if got == warm {
				runtime.ReadMemStats(&before)
			}
			if got >= most {
				runtime.ReadMemStats(&after)
				return true
			}
		}
	}))
	c.finished()

	return float64(after.Mallocs-before.Mallocs) / (most - warm)
}

// loopedConn is a connection within a loop, whose answer is chunked, and its
// server's end.
func loopedConn(t testing.TB) (c *socketConn, server net.Conn) {
	t.Helper()
	client, server := tcpPair(t)
	var ls loops
	c, err := newSocketConn(client, &ls)
	if err != nil {
		t.Fatal(err)
	}
	c.stamps = newStamper(StartClock())
	c.body.framing = framedChunked
	t.Cleanup(func() { c.Close(); ls.close() })
	return c, server
}

func tcpPair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// TestKicksAreHarmless: however often a stream is looked at without an event,
// it continues, and nothing of it is lost or read twice.
func TestKicksAreHarmless(t *testing.T) {
	loadtest.OnSockets(t)
	c, server := loopedConn(t)
	const most = 300
	go func() {
		for range most {
			time.Sleep(300 * time.Microsecond)
			_, _ = io.WriteString(server, loadtest.Event(loadtest.Token))
		}
		_, _ = io.WriteString(server, loadtest.EndFrame)
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 20000 {
			c.loop.schedule(c)
			runtime.Gosched()
		}
	}()
	buf, bytes := make([]byte, 4096), 0
	var err error
	c.drive(stepFunc(func() bool {
		for err == nil {
			var n int
			n, _, err = c.ReadStamped(buf)
			bytes += n
		}
		if errors.Is(err, sse.ErrWouldBlock) {
			err = nil
			return false
		}
		return true
	}))
	c.finished()
	<-over
	if want := most * len("data: "+loadtest.Token+"\n\n"); !errors.Is(err, io.EOF) || bytes != want {
		t.Errorf("the stream ended with %v after %d bytes, want EOF after %d", err, bytes, want)
	}
}

// TestLoopsShareStreams: every loop gets its share, and a pass leaves
// GOMAXPROCS as it was.
func TestLoopsShareStreams(t *testing.T) {
	loadtest.OnSockets(t)
	procs := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(procs)
	ls := loops{streams: 3 * loopStreams}
	for range 6 {
		client, _ := tcpPair(t)
		c, err := newSocketConn(client, &ls)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if len(ls.all) != 3 || runtime.GOMAXPROCS(0) != 7 {
		t.Errorf("%d loops, GOMAXPROCS %d, want 3 and 7", len(ls.all), runtime.GOMAXPROCS(0))
	}
	for i, l := range ls.all {
		l.mu.Lock()
		n := 0
		for _, c := range l.conns {
			if c != nil {
				n++
			}
		}
		l.mu.Unlock()
		if n != 2 {
			t.Errorf("loop %d has %d connections, want 2", i, n)
		}
	}
	ls.close()
	if got := runtime.GOMAXPROCS(0); got != 4 {
		t.Errorf("GOMAXPROCS %d after the pass, want 4", got)
	}
}

// TestEventBeforeWork: what happens on a connection before it is driven is
// seen once it is.
func TestEventBeforeWork(t *testing.T) {
	loadtest.OnSockets(t)
	c, server := loopedConn(t)
	if _, err := io.WriteString(server, loadtest.Event(loadtest.Token)+loadtest.EndFrame); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		c.loop.mu.Lock()
		awake := c.awake
		c.loop.mu.Unlock()
		if awake {
			break
		}
		runtime.Gosched()
	}
	buf, bytes := make([]byte, 4096), 0
	c.drive(stepFunc(func() bool {
		for {
			n, _, err := c.ReadStamped(buf)
			bytes += n
			if err != nil {
				return !errors.Is(err, sse.ErrWouldBlock)
			}
		}
	}))
	c.finished()
	if want := len("data: " + loadtest.Token + "\n\n"); bytes != want {
		t.Errorf("%d bytes, want %d", bytes, want)
	}
}

// TestHalfStartedLoops: where descriptors run out while loops are started, those
// that there are serve all streams.
func TestHalfStartedLoops(t *testing.T) {
	loadtest.OnSockets(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // several loops, on a machine of two processors, too
	made := 0
	ls := &loops{streams: loopStreams * loopMax, open: func() (*loop, error) {
		if made++; made > 1 {
			return nil, unix.EMFILE
		}
		return newLoop()
	}}
	defer ls.close()

	for range 3 {
		client, server := tcpPair(t)
		c, err := newSocketConn(client, ls)
		if err != nil {
			t.Fatal(err)
		}
		c.stamps = newStamper(StartClock())
		stepped := make(chan struct{}, 1)
		c.drive(stepFunc(func() bool {
			n, _, err := c.read(make([]byte, 8))
			if n > 0 || err != nil && !errors.Is(err, sse.ErrWouldBlock) {
				stepped <- struct{}{}
				return true
			}
			return false
		}))
		if _, err := server.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		<-stepped // for ever, were the loop not running
		c.finished()
		c.Close()
	}

	if made != 2 {
		t.Errorf("%d loops were asked for, want a second that cannot be had", made)
	}

	broken := &loops{streams: 1, open: func() (*loop, error) { return nil, unix.EMFILE }}
	client, _ := tcpPair(t)
	if _, err := newSocketConn(client, broken); !errors.Is(err, unix.EMFILE) {
		t.Errorf("without any loop: %v, want %v", err, unix.EMFILE)
	}
}

// TestLateWakeup: a cancellation that comes after the loops have ended writes
// nothing: the descriptor's number may be that of another file by then.
func TestLateWakeup(t *testing.T) {
	loadtest.OnSockets(t)
	ls := &loops{streams: 1}
	client, _ := tcpPair(t)
	c, err := newSocketConn(client, ls)
	if err != nil {
		t.Fatal(err)
	}
	number := c.loop.wakeup
	c.Close()
	ls.close()

	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(pipe[0]) }()
	defer func() { _ = unix.Close(pipe[1]) }()
	if pipe[0] != number && pipe[1] != number {
		if err := unix.Dup3(pipe[1], number, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(number) }()
	}
	if pipe[0] == number {
		t.Skip("the reading end has the number")
	}

	c.cancel()
	if n, err := unix.Read(pipe[0], make([]byte, 16)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("%d bytes were written to a descriptor that is not ours (%v)", n, err)
	}
}
