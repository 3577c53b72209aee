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
	before  int     // so many of them are of a run that was resumed since
	load    float64 // that a search has decided; 0: the planned one

	pass  int           // 2: the second of a step with two
	ports []int         // that its servers take, one a replica: those of the pass before; nil: any
	used  time.Duration // of the step's deadline, by the pass before
}

// again is the next attempt of a step that ended for a reason.
func (a attempt) again(why results.Failure) attempt {
	why.LogTail = nil
	a.earlier = append(a.earlier, why)
	a.Attempt++
	a.pass, a.used, a.ports = 0, 0, nil
	return a
}
