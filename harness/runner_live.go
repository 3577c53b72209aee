package harness

import (
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/telemetry"
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

func (r *Runner) newMonitor() *telemetry.Monitor {
	m := &telemetry.Monitor{Source: telemetry.Telling(r.Live, r.Telemetry), Scenario: r.Scenario, Box: r.Box, Live: r.Live, Observe: r.observeStep}
	if r.Resume != nil {
		m.FirstLimits = func() map[string]float64 { return firstLimits(r.Folder.Dir()) }
	}
	return m
}

// observeStep tells of the step that runs, or is about to.
func (r *Runner) observeStep(u status.Update) {
	u.Index = r.done + 1
	r.observe(u)
}
