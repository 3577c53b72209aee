package harness

import (
	"context"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/results"
)

// outlook works out how long what runs now and the rest of the run will take,
// and tells it: the launch of a life, or a step on servers that are up.
func (r *Runner) outlook(current plan.Life, step *plan.Step, up bool) {
	if r.Live == nil {
		return
	}
	expect, rest := 0.0, 0.0 // of what runs now, and of all else
	for _, life := range r.Plan.Lives {
		open := false
		for _, s := range life.Steps {
			if r.settled[s.ID] {
				continue
			}
			open = true
			if step != nil && s.ID == step.ID {
				expect = r.pace.ofStep(s)
			} else {
				rest += r.pace.ofStep(s)
			}
		}
		switch {
		case !open || up && life.ID == current.ID:
		case life.ID == current.ID:
			expect = r.pace.ofLife(life)
		default:
			rest += r.pace.ofLife(life)
		}
	}
	r.Live.Expects(expect, rest, r.pace.took > 0, r.Plan.LeastSteps > 0 && r.Plan.LeastSteps < len(r.Plan.Refs()))
}

// watchLaunch reads GPUs while nothing is measured and a server starts, for
// whoever watches: that memory fills is a sign of life. The function that it
// gives ends it.
func (r *Runner) watchLaunch(ctx context.Context) (end func()) {
	if r.Live == nil || !r.watches() || len(r.Box.Devices) == 0 {
		return func() {}
	}
	sampling := r.Telemetry.Start(ctx, func(time.Time, results.TelemetrySample) {}) // Live is told on the way
	return func() { sampling.Stop() }
}

// liveTelemetry also tells Live what is read.
type liveTelemetry struct {
	Telemetry
	live *status.Live
}

// telling gives a Telemetry that also tells l; without l, t itself.
func telling(l *status.Live, t Telemetry) Telemetry {
	if l == nil || t == nil {
		return t
	}
	return liveTelemetry{t, l}
}

func (t liveTelemetry) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) Sampling {
	return t.Telemetry.Start(ctx, func(at time.Time, s results.TelemetrySample) {
		if s.GPU != nil {
			t.live.GPU(s.GPU)
		}
		emit(at, s)
	})
}
