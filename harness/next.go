package harness

import (
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// decision says what is done with a planned step, now that it is its turn. It
// follows from the plan and the results so far alone, so that a run that was
// cut off goes on as it would have gone.
type decision struct {
	spared *results.Failure // why it is not needed; nil: it is run
	load   float64          // decided by a search; 0: the planned one
}

// next takes steps that are not needed off the front of pending, and gives the
// first that is needed its load.
func (r *Runner) next(pending []attempt) ([]attempt, error) {
	for spared := 0; len(pending) > 0; spared++ {
		d := r.decide(pending[0].Step)
		if d.spared == nil {
			pending[0] = r.loaded(pending[0], d.load)
			break
		}
		if spared == 0 {
			r.observe(status.Update{Kind: status.StepSpared, Index: r.done + 1, Step: pending[0].StepRef, Failure: d.spared})
		}
		if err := r.notRun(pending[:1], d.spared); err != nil {
			return nil, err
		}
		pending = pending[1:]
	}
	return pending, nil
}

func (r *Runner) decide(s plan.Step) decision {
	if why := r.repeatedEnough(s); why != nil {
		return decision{spared: why}
	}
	if why := r.pruned(s); why != nil {
		return decision{spared: why}
	}
	return r.searched(s)
}

// loaded is an attempt at the load that a search has decided.
func (r *Runner) loaded(a attempt, load float64) attempt {
	if a.load = load; load == 0 {
		return a
	}
	if r.Scenario.Search.Metric == scenarios.SearchConcurrency {
		a.Asked.MaxConcurrency = new(int(load))
	} else {
		a.Asked.RequestRate = &load
	}
	return a
}

// finished lists the results so far of planned steps that are asked for, in
// the order of the plan.
func (r *Runner) finished(wanted func(plan.Step) bool) []*results.Result {
	var all []*results.Result
	for _, life := range r.Plan.Lives {
		for _, step := range life.Steps {
			if result := r.known[step.ID]; result != nil && wanted(step) {
				all = append(all, result)
			}
		}
	}
	return all
}
