package wire

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

const (
	loopBatch   = 256 // events taken at once
	loopStreams = 256 // streams for which another loop is worth its thread
	loopMax     = 16
	loopReads   = 16 // of one stream in a row
	loopFresh   = 8  // reads that one reading of the clocks serves
	// loopWait bounds a wait, so that a loop never holds its processor for good.
	loopWait = 100 * time.Millisecond
	// loopEvents are reported once each time they occur (EPOLLET). Room to write is
	// reported only for connections that asked for it, or each would wake the loop once
	// as it is opened.
	loopEvents = unix.EPOLLIN | unix.EPOLLPRI | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff
)

// worker does what can be done on a connection without waiting, and reports
// whether that was all.
type worker interface{ step() bool }

// loops wait for the sockets of a pass and do their work: a few goroutines read
// many streams, so that no event costs a switch between goroutines.
type loops struct {
	streams int                   // how many are expected at once
	open    func() (*loop, error) // nil: newLoop

	mu   sync.Mutex
	all  []*loop
	next int

	starved starved // of the loops that have ended

	place   Place
	refused error // why a loop that has ended is not placed as it should be
}

// join gives c to one of the loops, which are started by the first call.
func (ls *loops) join(c *socketConn) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.all == nil {
		if err := ls.start(); err != nil {
			return err
		}
	}
	l := ls.all[ls.next%len(ls.all)]
	ls.next++
	return l.join(c)
}

func (ls *loops) start() error {
	n := min(runtime.GOMAXPROCS(0)-1, (ls.streams+loopStreams-1)/loopStreams, loopMax)
	if cpus := len(ls.place.CPUs); cpus > 0 {
		n = min(n, cpus)
	}
	open := ls.open
	if open == nil {
		open = newLoop
	}

	for range max(n, 1) {
		l, err := open()
		if err != nil && len(ls.all) == 0 {
			return err
		}
		if err != nil {
			break // out of descriptors: those that there are serve all streams
		}
		l.place.Nice = ls.place.Nice
		if cpus := ls.place.CPUs; len(cpus) > 0 {
			i := len(ls.all) % len(cpus)
			l.place.CPUs = cpus[i : i+1]
		}
		ls.all = append(ls.all, l)
	}

	raiseGOMAXPROCS(len(ls.all))
	for _, l := range ls.all {
		l.over.Go(l.run)
	}

	return nil
}

func (ls *loops) close() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.all {
		l.ending.Store(true)
		l.mu.Lock()
		l.wake()
		l.mu.Unlock()
		l.over.Wait()
		ls.starved.join(l.starve.starved)
		if l.refused != nil {
			ls.refused = l.refused
		}
		l.close()
	}
	raiseGOMAXPROCS(-len(ls.all))
	ls.all = nil
}

var processors sync.Mutex

// raiseGOMAXPROCS raises GOMAXPROCS by n: a loop keeps a processor of the scheduler
// while it waits, which the rest of bench is not to lose.
func raiseGOMAXPROCS(n int) {
	if n == 0 {
		return
	}
	processors.Lock()
	defer processors.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

// describe reports where the loops ran, and why not where they should have.
func (ls *loops) describe(r *results.ClientReport) {
	if ls.place.describe(r); ls.refused != nil {
		r.PlaceRefused = ls.refused.Error()
	}
}

// loop waits for the sockets given to it.
type loop struct {
	ep     int
	wakeup int // an eventfd that ends a wait
	ending atomic.Bool
	over   sync.WaitGroup

	mu     sync.Mutex
	conns  []*socketConn // by descriptor
	todo   []*socketConn // connections whose work is due without an event
	woken  bool          // a wait was ended on purpose, or is about to be
	closed bool          // the descriptors are closed

	watchkeeping

	place   cpus.Place
	refused error // why it is not there

	round   int
	events  [loopBatch]unix.EpollEvent
	batch   []*socketConn
	again   []*socketConn // cut short in this round for the others' sake
	recv    receiver
	now     reading // of the clocks, taken at most loopFresh reads ago
	nowUses int     // reads that it may still serve
	scratch sse.Scratch
}

func newLoop() (*loop, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}

	wakeup, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(ep)
		return nil, os.NewSyscallError("eventfd", err)
	}

	l := &loop{ep: ep, wakeup: wakeup}
	if err := l.control(unix.EPOLL_CTL_ADD, wakeup, loopEvents); err != nil {
		_, _ = unix.Close(wakeup), unix.Close(ep)
		return nil, err
	}

	return l, nil
}

func (l *loop) control(op, fd int, events uint32) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}))
}

// tellRoom makes epoll also report when there is room to write, at once if there is now.
func (l *loop) tellRoom(c *socketConn) error {
	if c.roomTold {
		return nil
	}
	c.roomTold = true
	return l.control(unix.EPOLL_CTL_MOD, c.fd, loopEvents|unix.EPOLLOUT)
}

func (l *loop) join(c *socketConn) error {
	l.mu.Lock()
	if c.fd >= len(l.conns) {
		l.conns = append(l.conns, make([]*socketConn, c.fd+1024-len(l.conns))...)
	}
	l.conns[c.fd], c.loop = c, l
	l.mu.Unlock()

	err := l.control(unix.EPOLL_CTL_ADD, c.fd, loopEvents)
	if err != nil {
		l.leave(c)
	}
	return err
}

// leave forgets c before its descriptor is closed.
func (l *loop) leave(c *socketConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c.fd] = nil
}

// drive makes the loop call w.step each time something happens on c, until it returns
// true.
func (l *loop) drive(c *socketConn, w worker) {
	l.mu.Lock()
	c.work = w
	due := c.awake
	l.mu.Unlock()
	if due {
		l.schedule(c)
	}
}

// schedule makes the loop call the work of c although nothing happened on it.
func (l *loop) schedule(c *socketConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.todo = append(l.todo, c)
	if !l.woken {
		l.woken = true
		l.wake()
	}
}

// wake ends the loop's wait. The lock is held: once the loop is closed, its
// descriptor's number may be that of another file.
func (l *loop) wake() {
	if l.closed {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(l.wakeup, one[:])
}

// close closes the descriptors of a loop that has ended.
func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_, _ = unix.Close(l.wakeup), unix.Close(l.ep)
}

func (l *loop) run() {
	runtime.LockOSThread()
	if l.place.Zero() {
		defer runtime.UnlockOSThread() // else the thread ends with this function
	}
	l.refused = l.place.Apply()
	l.starve = ofThisThread()
	defer l.starve.close()
	l.looked = time.Now()
	for !l.ending.Load() {
		l.collect(l.wait())
		for _, c := range l.batch {
			if c.work.step() {
				l.finish(c)
			}
		}
	}
}

// wait returns how many events there are. It waits by a raw system call: the scheduler
// is not told, so that it does not take the processor away and give it back around
// each wait; its signals for preemption end the wait. It looks before it waits, so
// that what a wait brings is known to have arrived during it.
func (l *loop) wait() int {
	began := time.Now()
	n := l.poll(0)
	if n > 0 || len(l.again) > 0 {
		l.found(began, n < loopBatch)
		return n
	}
	n = l.poll(loopWait)
	l.waited(began, time.Now())
	return n
}

// poll calls epoll_pwait with a time limit.
func (l *loop) poll(limit time.Duration) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.ep), uintptr(unsafe.Pointer(&l.events)), loopBatch,
		uintptr(limit.Milliseconds()), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// collect finds the connections on which something is to be done.
func (l *loop) collect(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.round++
	l.batch = l.batch[:0]
	for i := range l.events[:n] {
		e := &l.events[i]
		if int(e.Fd) >= len(l.conns) {
			continue
		}
		c := l.conns[e.Fd]
		if c == nil {
			continue
		}
		c.announced(l.floor)
		c.thorough = c.thorough || e.Events&^(unix.EPOLLIN|unix.EPOLLOUT) != 0
		l.add(c)
		if c.work != nil {
			c.empty = false // else its first step looks in any case
		}
	}

	if l.woken {
		for _, c := range l.todo {
			l.add(c)
		}
		l.todo, l.woken = l.todo[:0], false
	}

	for _, c := range l.again {
		l.add(c)
	}

	l.again, l.nowUses = l.again[:0], 0
}

func (l *loop) add(c *socketConn) {
	switch {
	case c.work == nil:
		c.awake = true
	case c.round != l.round:
		c.round, c.reads = l.round, 0
		l.batch = append(l.batch, c)
	}
}

func (l *loop) finish(c *socketConn) {
	l.mu.Lock()
	c.work, c.awake = nil, false
	l.mu.Unlock()
	c.done <- struct{}{}
}

// receive reads once from c and stamps what came. A stream that has more than
// its share waits for the next round.
func (l *loop) receive(c *socketConn, p []byte) (n int, at time.Duration, err error) {
	if c.reads++; c.reads > loopReads {
		l.again = append(l.again, c)
		return 0, 0, sse.ErrWouldBlock
	}
	if c.drained {
		c.since = c.emptied // found without an event
	}
	if len(c.cuts.sizes) == 0 && c.late(time.Now()) {
		n, _ := l.recv.peek(c.fd, p)
		c.cuts.find(p[:n])
	}
	if cut := c.cuts.sizes; len(cut) > 0 {
		p = p[:min(len(p), cut[0])]
	}

	n, wall, err := l.recv.receive(c.fd, p)
	c.empty = n < len(p) && (!c.thorough || err != nil)
	if err != nil {
		return 0, 0, err
	}
	c.waiting.read(n, l.recv.left)
	if len(c.cuts.sizes) > 0 {
		c.cuts.next(n)
		c.empty = false // more may have come, and been announced, since these were looked at
	} else {
		c.cuts.uncut(n)
	}
	at, c.exact = l.stamp(c.stamps, wall)
	at = c.same.unify(at, wall, c.exact)
	c.paced(at)
	if c.empty {
		c.emptied, c.drained = c.stamps.clock.Start.Add(l.now.at), true
	}
	return n, at, nil
}

// stamp is stamper.stamp with a reading of the clocks that several reads share. The lag
// that it notes is too low by the age of that reading.
func (l *loop) stamp(s *stamper, wall int64) (at time.Duration, exact bool) {
	if l.nowUses == 0 || wall == 0 || wall > l.now.wall {
		var steady bool
		if l.now, steady = s.steady(); !steady {
			l.nowUses = 0
			return l.now.at, false
		}
		l.nowUses = loopFresh
	}
	l.nowUses--
	return s.stampBy(l.now, wall)
}
