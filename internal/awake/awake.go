// Package awake distinguishes the time in which this program ran from the time in which
// it could not: stopped by a signal, frozen with its control group, paused with
// its virtual machine, or asleep with the whole machine.
//
// What goes in: durations. What comes out: deadlines that count only time in
// which the program ran, and how long it did not run. It signals nothing.
package awake

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/sleep"
)

const (
	// period is the time between two looks at the clocks.
	period = 250 * time.Millisecond

	// longestLook is how late a look may come on a machine that is merely busy. A
	// longer gap is a pause.
	longestLook = time.Second
)

// Lost is time in which this program did not run.
type Lost struct {
	Stopped time.Duration // while the machine ran: a signal, a frozen group, a paused virtual machine
	Asleep  time.Duration // with the machine: suspended
}

// Since is what was lost after an earlier reading.
func (l Lost) Since(before Lost) Lost {
	return Lost{Stopped: l.Stopped - before.Stopped, Asleep: l.Asleep - before.Asleep}
}

// Stopwatch counts the time in which the program runs. Look must be called at
// least every period, by one goroutine.
type Stopwatch struct {
	last   time.Time
	asleep time.Duration // of the machine since its boot
	ran    time.Duration
	lost   Lost
}

// Start is a stopwatch that runs from now on.
func Start() *Stopwatch { return &Stopwatch{last: time.Now(), asleep: machineSleep()} }

// Look takes in the time since the last look and returns how much of it was lost.
func (s *Stopwatch) Look() Lost {
	now, asleep := time.Now(), machineSleep()
	var lost Lost
	gap := now.Sub(s.last) // on the monotonic clock, which stands while the machine sleeps
	if gap > longestLook {
		lost.Stopped = gap - period
		gap = period
	}

	if slept := asleep - s.asleep; slept > longestLook {
		lost.Asleep = slept
	}

	s.last, s.asleep = now, asleep
	s.ran += gap
	s.lost.Stopped += lost.Stopped
	s.lost.Asleep += lost.Asleep
	return lost
}

// machineSleep is how long the machine has been suspended since its boot:
// CLOCK_BOOTTIME continues meanwhile, CLOCK_MONOTONIC does not.
var machineSleep = func() time.Duration {
	const tries, sameMoment = 5, 10 * time.Millisecond
	var slept time.Duration
	for range tries {
		before, boot, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)
		slept = boot - after
		if after-before < sameMoment {
			break // nothing came between the readings
		}
	}
	return slept
}

func read(clock int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// WithTimeoutCause is a context that ends with cause once the program has run
// for d. Time in which the program was stopped or the machine slept does not
// count: what is waited for may have been stopped as well. The context carries
// no deadline.
func WithTimeoutCause(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	limited, end := context.WithCancelCause(ctx)
	go func() {
		watch := Start()
		for left := d; left > 0; left = d - watch.ran {
			if !sleep.For(limited, min(left, period)) {
				return
			}
			watch.Look()
		}
		end(cause)
	}()

	return limited, func() { end(nil) }
}

// WithTimeout is WithTimeoutCause with context.DeadlineExceeded as the cause.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return WithTimeoutCause(ctx, d, context.DeadlineExceeded)
}

// Watch notices pauses while something runs.
type Watch struct {
	mu    sync.Mutex // guards watch
	watch *Stopwatch
}

// Notice watches for pauses until ctx ends.
func Notice(ctx context.Context) *Watch {
	w := &Watch{watch: Start()}
	go func() {
		for sleep.For(ctx, period) {
			w.Lost()
		}
	}()
	return w
}

// Lost is all that was lost so far.
func (w *Watch) Lost() Lost {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch.Look()
	return w.watch.lost
}
