package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"benchrig/results"
)

// pass is one drive of the client over a list of prompts.
type pass struct {
	opts    *Options
	prompts []Prompt
	dialect dialect
	bodies  []encoded
	wire    transport
	clock   clock
	slots   *slots
	count   counters
	answers answerPool
}

// counters feed the progress display.
type counters struct {
	sent, completed, failed, chunks atomic.Int64
}

// intended is when the schedule wants request i sent.
func (p *pass) intended(i int) time.Duration {
	if p.opts.Arrivals == nil {
		return 0
	}
	return time.Duration(p.opts.Arrivals[i] * float64(time.Second))
}

// drive sends every request at its time and hands each to out when it has
// ended. It returns when none is in flight any more.
func (p *pass) drive(ctx context.Context, out chan<- finished) {
	var wg sync.WaitGroup
	defer wg.Wait()
	freed := time.Duration(-1) // when the cap last let a request go
	for i := range p.prompts {
		if !p.clock.sleepUntil(ctx, p.intended(i)) {
			return
		}
		replica, waited, ok := p.slots.acquire(ctx)
		if !ok {
			return
		}
		if waited {
			freed = p.clock.now()
		}
		held := p.intended(i) <= freed
		wg.Go(func() {
			f, sent := p.perform(ctx, i, replica)
			p.slots.release(replica)
			if sent {
				f.held = held
				p.tally(f.record.Failure)
				out <- f
			}
		})
	}
}

func (p *pass) tally(failure *results.Failure) {
	if failure != nil {
		p.count.failed.Add(1)
		return
	}
	p.count.completed.Add(1)
}

// report calls Options.Progress until ctx ends.
func (p *pass) report(ctx context.Context) {
	period := p.opts.ProgressPeriod
	if period <= 0 {
		period = time.Second
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.opts.Progress(p.progress())
		case <-ctx.Done():
			return
		}
	}
}

func (p *pass) progress() Progress {
	inFlight, _ := p.slots.load()
	return Progress{
		Sent:         int(p.count.sent.Load()),
		Completed:    int(p.count.completed.Load()),
		Failed:       int(p.count.failed.Load()),
		InFlight:     inFlight,
		Total:        len(p.prompts),
		OutputChunks: p.count.chunks.Load(),
		Elapsed:      p.clock.now(),
	}
}
