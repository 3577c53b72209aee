package harness

import (
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// attempt is a step on its way: which try it is and how earlier ones ended.
type attempt struct {
	plan.Step
	earlier []results.Failure
	failed  []results.FailureClass // attempts of this run that count against its retries
	load    float64                // that a search has decided; 0: the planned one

	pass  int           // 2: the second of a step with two
	ports []int         // that its servers take, one a replica: those of the pass before; nil: any
	used  time.Duration // of the step's deadline, by the pass before
}

// again is the next attempt of a step that ended for a reason.
func (a attempt) again(why results.Failure) attempt {
	a = a.afterLaunch(why)
	a.failed = append(a.failed, why.Class)
	return a
}

// afterLaunch is the next attempt of a step whose servers did not come up. It
// uses none of the step's own retries: those are for what happens in the step.
func (a attempt) afterLaunch(why results.Failure) attempt {
	why.LogTail = nil
	a.earlier = append(a.earlier, why)
	a.Attempt++
	a.pass, a.used, a.ports = 0, 0, nil
	return a
}
