package load

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// pass is one drive of the client over a list of prompts.
type pass struct {
	opts    *Options
	prompts []dialect.Prompt
	offsets []int // see offsetsOf
	api     dialect.API
	common  *dialect.Common
	bodies  []dialect.Encoded // of each prompt's first request
	wire    wire.Transport
	clock   wire.Clock
	slots   *slots
	count   counters
	answers answerPool

	withheld atomic.Bool // the end of the pass kept a request from being sent
}

// counters feed the progress display and the report.
type counters struct {
	sent, completed, failed, chunks atomic.Int64

	shared atomic.Int64 // see results.ClientReport.SharedReads
}

// conversations is how many prompts are taken; requests is how many requests
// that makes, 0 if it is not known in advance.
func (p *pass) conversations() (n, requests int) {
	n = len(p.prompts)
	if p.opts.Repeat {
		if n = len(p.opts.Arrivals); p.opts.Arrivals == nil {
			return math.MaxInt, 0
		}
	}
	if n == 0 {
		return 0, 0
	}
	return n, p.firstIndex(n)
}

// intended is when the schedule wants prompt k sent.
func (p *pass) intended(k int) time.Duration {
	if p.opts.Arrivals == nil {
		return 0
	}
	return time.Duration(p.opts.Arrivals[k] * float64(time.Second))
}

// over reports whether nothing is to be sent at time at any more.
func (p *pass) over(at time.Duration) bool { return p.opts.Duration > 0 && at >= p.opts.Duration }

// drive sends every request at its time, those of the wave first, and hands
// each to out when it has ended. It returns when none is in flight any more.
func (p *pass) drive(ctx, sendCtx context.Context, wave []*sending, out chan<- finished) {
	var wg sync.WaitGroup
	defer wg.Wait()

	if len(p.opts.Stages) > 1 && spec.PeakConcurrency(p.opts.Stages) > 0 {
		wg.Go(func() { p.slots.stage(sendCtx, p.clock, p.opts.Stages) })
	}
	converse := func(k, replica int, staged *sending, held bool) {
		f, sent := p.converse(ctx, sendCtx, k, replica, staged, held, out)
		p.slots.release(replica)
		if sent {
			out <- f
		}
	}

	sent := sendWave(ctx, wave)
	for k, s := range wave[:sent] {
		wg.Go(func() {
			if len(p.prompt(k).Turns) == 0 {
				s.await()
			}
			converse(k, s.replica, s, false)
		})
	}

	if sent < len(wave) {
		return
	}

	freed := time.Duration(-1) // when the cap last let a request go
	n, _ := p.conversations()
	for k := len(wave); k < n; k++ {
		intended := p.intended(k)
		if p.over(intended) {
			return
		}
		if !p.clock.SleepUntil(sendCtx, intended) {
			p.noteEnd(ctx)
			return
		}
		replica, waited, ok := p.slots.acquire(sendCtx)
		if !ok {
			p.noteEnd(ctx)
			return
		}
		now := p.clock.Now()
		if waited {
			freed = now
		}
		if p.over(now) {
			p.slots.release(replica)
			return
		}
		held := intended <= freed
		wg.Go(func() { converse(k, replica, nil, held) })
	}
}

// stageWave makes the requests ready that are due when the clock starts.
func (p *pass) stageWave(ctx context.Context, n int) []*sending {
	wave := make([]*sending, 0, n)
	for k := range n {
		replica, _, ok := p.slots.acquire(ctx)
		if !ok {
			break
		}
		wave = append(wave, p.stage(ctx, p.opening(k, replica)))
	}
	return wave
}

// sendWave sends the requests one right after the other, nothing else between
// them, and returns how many it sent before ctx ended.
func sendWave(ctx context.Context, wave []*sending) (sent int) {
	for i, s := range wave {
		if ctx.Err() != nil {
			for _, rest := range wave[i:] {
				rest.Drop()
			}
			return i
		}
		s.send()
	}
	return len(wave)
}

// errDrain ends what is in flight for too long after the duration.
var errDrain = errors.New("not finished within the drain limit after the run's duration")

// sendSpan bounds the sending by the duration, by Options.Stop and by the call of stop.
func (p *pass) sendSpan(ctx context.Context) (sendCtx context.Context, stop context.CancelFunc) {
	if p.opts.Duration <= 0 {
		sendCtx, stop = context.WithCancel(ctx)
	} else {
		sendCtx, stop = context.WithDeadline(ctx, p.clock.Start.Add(p.opts.Duration))
	}
	if p.opts.Stop != nil {
		go func() {
			select {
			case <-p.opts.Stop:
				stop()
			case <-sendCtx.Done():
			}
		}()
	}
	return sendCtx, stop
}

// limitDrain has abort called if requests are still in flight at the drain limit.
func (p *pass) limitDrain(abort context.CancelCauseFunc) (stop func()) {
	if p.opts.Duration <= 0 || p.opts.Timeouts.Drain <= 0 {
		return func() {}
	}
	limit := p.opts.Duration + p.opts.Timeouts.Drain - p.clock.Now() // second 0 may be to come
	timer := time.AfterFunc(limit, func() { abort(errDrain) })
	return func() { timer.Stop() }
}

// noteEnd notes that a request was not sent, if that was because ctx ended.
func (p *pass) noteEnd(ctx context.Context) {
	if ctx.Err() != nil {
		p.withheld.Store(true)
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
	_, total := p.conversations()
	return Progress{
		Sent:         int(p.count.sent.Load()),
		Completed:    int(p.count.completed.Load()),
		Failed:       int(p.count.failed.Load()),
		InFlight:     inFlight,
		Total:        total,
		OutputChunks: p.count.chunks.Load(),
		Elapsed:      p.clock.Now(),
	}
}
