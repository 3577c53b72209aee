package simengine

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// maxSlip is how far the engine may fall behind its schedule before it gives
// up the arrears. Below, late steps are made up for, so that rates stay true.
const maxSlip = 100 * time.Millisecond

// Engine runs a scheduler in real time. One goroutine (run) makes the steps;
// submit and abort may be called from any.
type Engine struct {
	speed float64
	wake  chan struct{} // holds at most one signal
	crash func(FaultKind)

	mu      sync.Mutex // guards the fields below
	core    *Scheduler
	slipped time.Duration // schedule given up because the machine was too slow
}

// NewEngine makes an engine that stands still until Run. It calls crash when a crash fault strikes.
func NewEngine(s Settings, crash func(FaultKind)) *Engine {
	speed := s.Speed
	if s.LifeNoise > 0 { // not from the seed: no two lives are alike
		speed *= NoiseFactor(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), s.LifeNoise)
	}
	return &Engine{speed: speed, wake: make(chan struct{}, 1), crash: crash, core: NewScheduler(s)}
}

// Submit queues a request, sets its arrival to now and wakes the engine.
func (e *Engine) Submit(s *Sequence) {
	e.mu.Lock()
	s.Arrival = time.Now()
	e.core.Submit(s)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Abort ends a request whose client has left. It does nothing to one that has ended.
func (e *Engine) Abort(s *Sequence) {
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

// Run makes steps until ctx ends.
func (e *Engine) Run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	var end time.Time // of the last step
	idle := true
	for {
		e.mu.Lock()
		b, seconds := e.core.Plan()
		e.mu.Unlock()
		if len(b.Items) == 0 {
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
		if !WaitUntil(ctx, timer, end) {
			return
		}
		if !e.finishStep(b, start, end) {
			return
		}
	}
}

// stepStart: a step begins where the last one ended, so that late timers do
// not add up, unless the engine was idle or is hopelessly late.
func (e *Engine) stepStart(end time.Time, idle bool) time.Time {
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
func (e *Engine) finishStep(b *batch, start, end time.Time) bool {
	e.mu.Lock()
	e.core.Commit(b, start, end)
	e.core.Stats.Steps++
	e.core.Stats.StepSeqs += int64(len(b.Items))
	crashed := e.core.crashed
	e.mu.Unlock()
	if crashed != "" {
		e.crash(crashed)
		return false
	}
	return true
}

// WaitUntil waits on the timer until t; false if ctx ended first.
func WaitUntil(ctx context.Context, timer *time.Timer, t time.Time) bool {
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

// Gauges are the engine's state at one instant.
type Gauges struct {
	Counters
	Running  int
	Waiting  int
	KVUsage  float64
	SlippedS float64
}

// Gauges takes a snapshot of the engine's counters and state.
func (e *Engine) Gauges() Gauges {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Gauges{
		Counters: e.core.Stats.snapshot(),
		Running:  len(e.core.running),
		Waiting:  len(e.core.waiting),
		KVUsage:  e.core.pool.usage(),
		SlippedS: e.slipped.Seconds(),
	}
}

// ResetPrefixCache forgets all cached content; false while blocks are in use.
func (e *Engine) ResetPrefixCache() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.core.pool.reset()
}
