package harness

import (
	"context"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// retriesLeft reports whether a step or launch that failed for why gets a further
// attempt: so many as its class has, else so many as there are for all other
// classes. failed are the attempts before. What no retry can cure is tried again
// only where the scenario names its class.
func retriesLeft(sc *scenarios.Scenario, failed []results.FailureClass, why results.FailureClass) bool {
	limit, own := sc.RetriesFor[string(why)]
	if why.Final() || !own && !why.Retryable() {
		return false
	}

	used := 0
	for _, class := range failed {
		_, ownToo := sc.RetriesFor[string(class)]
		if class == why || !own && !ownToo {
			used++
		}
	}

	if !own {
		limit = sc.Retries
	}

	return used < limit
}

// mayRetry reports whether a step or launch of a variant that failed for why is
// tried again, now.
func (n *run) mayRetry(ctx context.Context, variant int, failed []results.FailureClass, why results.FailureClass) bool {
	return n.blocked(ctx, variant) == nil && retriesLeft(n.scenario, failed, why)
}

// needsRestart reports whether the servers of a step that failed so may not serve
// another one.
func needsRestart(failure *results.Failure) bool {
	return failure != nil && slices.Contains([]results.FailureClass{
		results.FailNoProgress, results.FailRestarted,
		results.FailForeign,
	}, failure.Class)
}

// attempt is a step on its way: which try it is and how earlier ones ended.
type attempt struct {
	plan.Step
	earlier []results.Failure
	failed  []results.FailureClass // attempts of this run that count against its retries
	load    float64                // that a search has decided; 0: the planned one

	pass  int           // 2: the second of a step with two
	ports []int         // that its servers take, one per replica: those of the pass before; nil: any
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
