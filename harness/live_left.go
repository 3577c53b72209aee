package harness

import (
	"time"

	"github.com/benchrig/bench/harness/plan"
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
	r.Live.expects(expect, rest, r.pace.took > 0, r.Plan.LeastSteps > 0 && r.Plan.LeastSteps < len(r.Plan.Refs()))
}

// expects takes in an outlook.
func (l *Live) expects(step, rest float64, measured, atMost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expect, l.rest, l.now.LeftBy, l.now.AtMost = step, rest, results.LeftByPlan, atMost
	if measured {
		l.now.LeftBy = results.LeftByRun
	}
}

// fillLeft tells what is left; the caller holds the mutex.
func (l *Live) fillLeft(now *results.Live, at time.Time) {
	left := 0.0
	switch {
	case !l.step.IsZero():
		took := at.Sub(l.step).Seconds()
		now.StepS = &took
		left = max(0, l.expect-took)
		if by := l.pass.left(at); by != nil {
			left = *by
		}
		if left > 0 { // else it takes longer than expected: not known
			now.LeftS = new(left)
		}
	case now.Phase == results.LiveLaunching:
		left = max(0, l.expect-now.PhaseS)
	}
	if l.rest+l.expect > 0 {
		now.RunS = new(max(0, left+l.rest))
	}
}

// left is what the pass needs further, by its progress; null before a part of
// it is done.
func (p *livePass) left(at time.Time) *float64 {
	if !p.on {
		return nil
	}
	passed := at.Sub(p.began).Seconds()
	done := p.progress.Completed + p.progress.Failed
	switch {
	case p.sendFor > 0:
		return new(max(0, p.sendFor.Seconds()-passed))
	case p.progress.Total > 0 && done > 0 && done >= p.progress.InFlight:
		return new(passed / float64(done) * float64(p.progress.Total-done))
	}
	return nil
}
