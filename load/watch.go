package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// drainLimit is how long the end of an answer may take once nothing more is
// expected of it; the wait keeps the connection usable.
const drainLimit = time.Second

// lateTimer is how late a timer may fire on a machine that is merely busy. One
// that fires later was held up by a pause of this program, in which nothing could
// be read.
const lateTimer = time.Second

// limitError is the cause with which a watch ends a request.
type limitError struct {
	class results.FailureClass
	words string
}

func (l *limitError) Error() string { return l.words }

// watch holds one request to its limits. A single timer serves all of them:
// reads only leave their time, and the timer looks when it fires.
type watch struct {
	cancel context.CancelCauseFunc
	limits spec.Timeouts
	clock  wire.Clock
	sent   time.Duration
	last   atomic.Int64 // time of the latest read, as time.Duration
	events atomic.Bool  // a data event has come

	mu    sync.Mutex
	timer *time.Timer
	over  bool
	awoke time.Duration // when the program went on after its last pause
	drain time.Duration // end of the wait for the answer's end; 0: not waiting
}

// start begins at the moment the request is sent.
func (w *watch) start(c wire.Clock, sent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock, w.sent = c, sent
	w.setTimer()
}

// Alive notes that bytes were read.
func (w *watch) Alive(at time.Duration) { w.last.Store(int64(at)) }

// firstEvent switches from the first-token limit to the stall limit.
func (w *watch) firstEvent() {
	w.events.Store(true)
	if w.limits.FirstToken <= 0 && w.limits.Stall <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setTimer()
}

// draining limits the rest of the answer: nothing more is expected of it.
func (w *watch) draining() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drain == 0 {
		w.drain = w.clock.Now() + drainLimit
		w.setTimer()
	}
}

// stop ends the watch; no limit strikes afterwards.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// setTimer sets the timer to the next limit. The lock is held.
func (w *watch) setTimer() {
	if w.over {
		return
	}
	at, _ := w.next()
	switch {
	case at == 0:
		if w.timer != nil {
			w.timer.Stop()
		}
	case w.timer == nil:
		w.timer = time.AfterFunc(at-w.clock.Now(), w.fire)
	default:
		w.timer.Reset(at - w.clock.Now())
	}
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	at, why := w.next()
	now := w.clock.Now()
	if at != 0 && now-at > lateTimer {
		w.awoke = now // every limit begins anew
	} else if at != 0 && at <= now {
		w.over = true
		w.cancel(why)
		return
	}
	w.setTimer()
}

// next returns the limit that strikes next, 0 if none does.
func (w *watch) next() (at time.Duration, why *limitError) {
	try := func(from, limit time.Duration, class results.FailureClass, words string) {
		from = max(from, w.awoke)
		if limit > 0 && (at == 0 || from+limit < at) {
			at, why = from+limit, &limitError{class: class, words: words + limit.String()}
		}
	}

	if w.drain > 0 {
		try(w.drain-drainLimit, drainLimit, results.FailTransport,
			"the answer was complete but its stream stayed open for ")
		return at, why
	}

	try(w.sent, w.limits.Total, results.FailTotal, "total limit: not finished within ")
	if w.events.Load() {
		try(time.Duration(w.last.Load()), w.limits.Stall, results.FailStall, "stall limit: no byte for ")
	} else {
		try(w.sent, w.limits.FirstToken, results.FailFirstToken, "first-token limit: no data event within ")
	}

	return at, why
}
