package simserver

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// maxSlip is how far the engine may fall behind its schedule before it gives
// up the arrears. Below, late steps are made up for, so that rates stay true.
const maxSlip = 100 * time.Millisecond

// engine runs a scheduler in real time. One goroutine (run) makes the steps;
// submit and abort may be called from any.
type engine struct {
	speed float64
	wake  chan struct{} // holds at most one signal
	crash func(FaultKind)

	mu      sync.Mutex // guards the fields below
	core    *scheduler
	slipped time.Duration // schedule given up because the machine was too slow
}

func newEngine(s settings, crash func(FaultKind)) *engine {
	speed := s.Speed
	if s.LifeNoise > 0 { // not from the seed: no two lives are alike
		speed *= noiseFactor(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), s.LifeNoise)
	}
	return &engine{speed: speed, wake: make(chan struct{}, 1), crash: crash, core: newScheduler(s)}
}

func (e *engine) submit(s *sequence) {
	e.mu.Lock()
	s.arrival = time.Now()
	e.core.submit(s)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *engine) abort(s *sequence) {
	e.mu.Lock()
	done := s.done
	e.core.abort(s)
	e.mu.Unlock()
	if done {
		return
	}
	select {
	case e.wake <- struct{}{}: // blocks became free
	default:
	}
}

// run makes steps until ctx ends.
func (e *engine) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var end time.Time // of the last step
	idle := true
	for {
		e.mu.Lock()
		b, seconds := e.core.plan()
		e.mu.Unlock()
		if len(b.items) == 0 {
			idle = true
			select {
			case <-ctx.Done():
				return
			case <-e.wake:
			}
			continue
		}
		start := e.stepStart(end, idle)
		idle = false
		end = start.Add(time.Duration(seconds / e.speed * float64(time.Second)))
		if !waitUntil(ctx, timer, end) {
			return
		}
		if !e.finishStep(b, start, end) {
			return
		}
	}
}

// stepStart: a step begins where the last one ended, so that late timers do
// not add up, unless the engine was idle or is hopelessly late.
func (e *engine) stepStart(end time.Time, idle bool) time.Time {
	now := time.Now()
	if idle {
		return now
	}
	if late := now.Sub(end); late > maxSlip {
		e.mu.Lock()
		e.slipped += late
		e.mu.Unlock()
		return now
	}
	return end
}

// finishStep commits a step; false when it ended the server.
func (e *engine) finishStep(b *batch, start, end time.Time) bool {
	e.mu.Lock()
	e.core.commit(b, start, end)
	e.core.stats.steps++
	e.core.stats.stepSeqs += int64(len(b.items))
	crashed := e.core.crashed
	e.mu.Unlock()
	if crashed != "" {
		e.crash(crashed)
		return false
	}
	return true
}

func waitUntil(ctx context.Context, timer *time.Timer, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer.Reset(d)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// gauges are the engine's state at one instant.
type gauges struct {
	counters
	running  int
	waiting  int
	kvUsage  float64
	slippedS float64
}

func (e *engine) gauges() gauges {
	e.mu.Lock()
	defer e.mu.Unlock()
	return gauges{
		counters: e.core.stats.snapshot(),
		running:  len(e.core.running),
		waiting:  len(e.core.waiting),
		kvUsage:  e.core.pool.usage(),
		slippedS: e.slipped.Seconds(),
	}
}

// resetPrefixCache forgets all cached content; false while blocks are in use.
func (e *engine) resetPrefixCache() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.pool.reset()
}
