package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

// boxWaiting tells, while another bench works on the box, how long it has been
// waited for and what is known of the other's end.
type boxWaiting struct {
	e   env
	box *state.Box

	mu    sync.Mutex // guards what follows
	owner state.Owner
	since time.Time // zero: nobody is waited for
}

// waiting says who works on the box.
func (b *boxWaiting) waiting(o state.Owner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owner = o; b.since.IsZero() {
		b.since = time.Now()
	}
	fmt.Fprintf(b.e.Stderr, "bench: waiting for the box: %s\n", o)
}

// tell tells again every plainPeriod, until end is called.
func (b *boxWaiting) tell(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(plainPeriod)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				b.again()
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

func (b *boxWaiting) again() {
	b.mu.Lock()
	owner, since := b.owner, b.since
	b.mu.Unlock()
	if !since.IsZero() {
		fmt.Fprintf(b.e.Stderr, "bench: waiting for the box: %s so far, for pid %d; %s\n", time.Since(since).Round(time.Second), owner.PID, b.left(owner))
	}
}

// left is what the other run says of its end.
func (b *boxWaiting) left(owner state.Owner) string {
	runs, _ := b.box.Runs() // none: nothing is known
	for _, run := range runs {
		folder, err := results.Open(run.Dir)
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
