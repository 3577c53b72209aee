package session

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// waitPeriod is how often a wait for another run is reported.
const waitPeriod = 10 * time.Second

// lock takes the machine for a command, and waits for it if asked to.
func lock(ctx context.Context, w io.Writer, machine *state.Store, what string, wait bool) (*state.Lock, error) {
	if !wait {
		return machine.Lock(what)
	}
	waiting := &waiting{w: w, machine: machine}
	defer waiting.report(ctx)()
	return machine.WaitLock(ctx, what, waiting.begin)
}

// waiting reports, while another bench uses the machine, how long it has been
// waited for and when the other run is expected to end.
type waiting struct {
	w       io.Writer
	machine *state.Store

	mu    sync.Mutex // guards what follows
	owner state.Owner
	since time.Time // zero: nobody is waited for
}

// begin notes who uses the machine.
func (b *waiting) begin(o state.Owner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owner = o; b.since.IsZero() {
		b.since = time.Now()
	}
	fmt.Fprintf(b.w, "bench: waiting for this machine: %s\n", o)
}

// report repeats the line every waitPeriod, until end is called.
func (b *waiting) report(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for sleep.For(ctx, waitPeriod) {
			b.again()
		}
	})

	return func() {
		cancel()
		done.Wait()
	}
}

func (b *waiting) again() {
	b.mu.Lock()
	owner, since := b.owner, b.since
	b.mu.Unlock()
	if !since.IsZero() {
		fmt.Fprintf(b.w, "bench: waiting for this machine: %s so far, for pid %d; %s\n",
			time.Since(since).Round(time.Second), owner.PID, b.left(owner))
	}
}

// left is what the other run expects of its end.
func (b *waiting) left(owner state.Owner) string {
	runs, _ := b.machine.Runs() // none: nothing is known
	for _, run := range runs {
		folder, err := store.Open(run.Dir)
		if err != nil {
			continue
		}
		lives, _ := folder.ReadLive() // likewise
		for _, l := range lives {
			if l.PID == owner.PID {
				return "it is at " + live.Line(l) + live.LeftOf(l)
			}
		}
	}
	return "how long it will take is not known"
}

// WaitToStart waits until the moment at which the scenario starts, by the wall
// clock, which continues while the machine sleeps. A moment that is over is not waited
// for. The error is that of ctx.
func WaitToStart(ctx context.Context, w io.Writer, sc *scenarios.Scenario) error {
	if sc.StartAt.IsZero() {
		return nil
	}
	at := sc.StartAt.From(time.Now()).Round(0) // without the monotonic clock, which stops in sleep
	if time.Until(at) > 0 {
		fmt.Fprintf(w, "waiting for start-at: %s\n", at.Format("2006-01-02 15:04 MST"))
	}
	const look = 30 * time.Second
	for {
		left := at.Sub(time.Now().Round(0))
		if left <= 0 {
			return nil
		}
		if !sleep.For(ctx, min(left, look)) {
			return results.CauseOf(ctx)
		}
	}
}
