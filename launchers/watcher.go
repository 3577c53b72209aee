package launchers

import (
	"cmp"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

const (
	watchStart = 50 * time.Millisecond  // between looks at the log while starting
	watchServe = 250 * time.Millisecond // while serving
	usagePoll  = time.Second            // between looks at CPU time while starting
	filesEvery = 6                      // looks at the process tree to one at its files while serving
	treeEvery  = 20                     // of the looks at the log to one at the process tree

	// ownEndTime is how long a start continues after a fatal line without any
	// sign of life: an engine that fails ends by itself, within 8 s where a
	// signal in the meantime would hang it. quietTime is the same for one that
	// computes but logs nothing.
	ownEndTime = 15 * time.Second
	quietTime  = 2 * time.Minute

	// A server that only answers our probes uses a little CPU time. More than
	// idleCPU, and more than idleShare of the time passed, is work.
	idleCPU   = 30 * time.Millisecond
	idleShare = 0.01
)

// watcher follows the process and the log of a server until it fails or is stopped.
type watcher struct {
	*started
	outcome
	alive signs

	lookAtTree func(files bool) error // files: also at those in shared memory
	readiness  *ready.Progress        // nil before the spawn, and of a program that never serves
	ownEnd     time.Duration          // see patience; 0: the usual
	killNow    chan struct{}          // closed when the server is to be killed at once

	group   sync.WaitGroup // of goroutines that watch
	quit    chan struct{}  // closed to end them
	endOnce sync.Once

	mu      sync.Mutex // guards ready and fatalAt
	ready   bool       // it has answered with a token
	fatalAt time.Time  // when a fatal line of the start was seen
}

// watch follows process and log until the server fails or quit is closed.
// stalled is called, once, when a starting server shows no sign of life for
// Ready.Stall.
func (w *watcher) watch(stalled func()) {
	var looked time.Time
	looks, spoke := 0, false // at the tree; the server has written a line
	doom := doomed{watcher: w}
	stopwatch := awake.Start()

	for {
		select {
		case <-w.process.Done():
			w.fail(w.exitFailure(w.stage()))
			return
		case <-w.quit:
			if _, exited := w.process.Exit(); exited {
				w.fail(w.exitFailure(w.stage())) // it ended before it was asked to
			}
			return
		case <-time.After(w.pause()):
		}

		if lost := stopwatch.Look().Stopped; lost > 0 {
			w.setBack(lost)
			doom.setBack(lost)
		}
		if time.Since(looked) > w.pause()*treeEvery {
			_ = w.lookAtTree(looks%w.filesEvery() == 0) // whoever writes the journal next meets the same error
			looked = time.Now()
			looks++
		}

		moved := w.log.Read()
		if moved && !spoke && w.spec.Ready.Poll != 0 { // the start is measured
			spoke = true
			w.readiness.Spoke()
		}
		if doom.now() {
			w.fail(w.fatalFailure(w.log.FatalLine()))
			return
		}
		if w.spec.Ready.Stall > 0 && w.stalledNow(moved) {
			stalled()
			stalled = func() {}
		}
	}
}

// setBack takes time in which this program was stopped out of what the server's
// silence is measured by: it may have been stopped as well.
func (w *watcher) setBack(lost time.Duration) {
	w.alive.setBack(lost)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fatalAt = later(w.fatalAt, lost)
}

// pause is the time between looks at the log.
func (w *watcher) pause() time.Duration {
	if w.serving() {
		return watchServe
	}
	return watchStart
}

// filesEvery is how many looks at the tree there are to one at its files. That
// one holds up the page faults of the process for a moment, so a server that
// serves has fewer of them.
func (w *watcher) filesEvery() int {
	if w.serving() {
		return filesEvery
	}
	return 1
}

// endWatch ends the watching goroutines and waits for them.
func (w *watcher) endWatch() {
	w.endOnce.Do(func() { close(w.quit) })
	w.group.Wait()
}

// stalledNow reports whether a starting server has shown no sign of life for
// Ready.Stall: a byte of log, CPU time, bytes read from storage. Of a job step the
// last two cannot be seen, so that nothing is said of such a server.
func (w *watcher) stalledNow(moved bool) bool {
	if w.serving() || w.spec.Span.Step {
		return false
	}
	since := w.alive.silence()
	if !moved && since < min(usagePoll, w.spec.Ready.Stall/2) {
		return false
	}

	now, err := w.process.Usage()
	if err == nil && worked(w.alive.lastUse(), now, since) {
		moved = true
	}
	if moved {
		w.alive.recordUse(now)
		w.alive.note()
		return false
	}
	return since >= w.spec.Ready.Stall
}

// fail records the first failure and closes Done.
func (w *watcher) fail(failure *results.Failure) { w.set(w.clean(failure)) }

// serving reports whether the server has answered with a token.
func (w *watcher) serving() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ready
}

// setServing records that the server has answered with a token.
func (w *watcher) setServing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = true
}

// noteFatal records when a fatal line of the start was first seen, and returns that;
// zero for a log without one.
func (w *watcher) noteFatal() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fatalAt.IsZero() && w.log.FatalLine().Ends() {
		w.fatalAt = time.Now()
	}
	return w.fatalAt
}

// doomed decides when a start whose log holds a fatal line is given up: once
// the server shows no sign of life any more. One that serves is judged by its
// answers.
type doomed struct {
	watcher  *watcher
	lines    int // of progress in the log
	lastLine time.Time
	lastWork time.Time // CPU time, or something read from storage
	looked   time.Time // at the tree's use
	use      process.Usage
}

// setBack takes time in which this program was stopped out of the silence.
func (d *doomed) setBack(lost time.Duration) {
	d.lastLine, d.lastWork = later(d.lastLine, lost), later(d.lastWork, lost)
}

// later is a moment that much later; no moment stays none.
func later(at time.Time, by time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(by)
}

// now reports whether the start is given up.
func (d *doomed) now() bool {
	w := d.watcher
	if w.serving() || w.noteFatal().IsZero() {
		return false
	}

	if lines := w.log.Progress(); lines != d.lines || d.lastLine.IsZero() {
		d.lines, d.lastLine = lines, time.Now()
	}
	if passed := time.Since(d.looked); passed >= usagePoll {
		use, err := w.process.Usage()
		if err == nil && worked(d.use, use, min(passed, usagePoll)) {
			d.lastWork = time.Now()
		}
		d.use, d.looked = use, time.Now()
	}

	quiet, idle := time.Since(d.lastLine), time.Since(d.lastWork)
	return quiet >= w.patience() && idle >= w.patience() || quiet >= quietTime
}

// patience is how long a server gets to end by itself after a fatal line.
func (w *watcher) patience() time.Duration { return cmp.Or(w.ownEnd, ownEndTime) }

// awaitOwnEnd lets a start that has logged a fatal line end by itself, so that
// its exit code is its own: a signal at that time hangs some engines.
func (w *watcher) awaitOwnEnd() {
	w.log.Read() // what it has said since the last look
	seen := w.noteFatal()
	if w.serving() || seen.IsZero() {
		return
	}

	select {
	case <-w.process.Done():
	case <-w.killNow:
	case <-time.After(w.patience() - time.Since(seen)):
	}
}

// stage says what a starting server was waited for, "" once it serves.
func (w *watcher) stage() string {
	if w.serving() || w.readiness == nil || w.readiness.Current() == "" {
		return ""
	}
	return ", waiting for " + w.readiness.Current()
}
