package harness

import (
	"context"
	"slices"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// retriesLeft says whether a step or launch that failed for why gets a further
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

// mayRetry says whether a step or launch of a variant that failed for why is
// tried again, now.
func (n *run) mayRetry(ctx context.Context, variant int, failed []results.FailureClass, why results.FailureClass) bool {
	return n.blocked(ctx, variant) == nil && retriesLeft(n.scenario, failed, why)
}

// needsRestart says whether the servers of a step that failed so may not serve
// another one.
func needsRestart(failure *results.Failure) bool {
	return failure != nil && slices.Contains([]results.FailureClass{
		results.FailNoProgress, results.FailRestarted,
		results.FailForeign,
	}, failure.Class)
}
