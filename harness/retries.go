package harness

import (
	"slices"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// retriesLeft says whether a step that failed for why gets a further attempt:
// so many as its class has, else so many as there are for all other classes.
func retriesLeft(sc *scenarios.Scenario, a attempt, why results.FailureClass) bool {
	if why == results.FailSkipped {
		return false
	}
	limit, own := sc.RetriesFor[string(why)]
	used := 0
	for _, earlier := range a.earlier[a.before:] {
		_, ownToo := sc.RetriesFor[string(earlier.Class)]
		if earlier.Class == why || !own && !ownToo {
			used++
		}
	}
	if !own {
		limit = sc.Retries
	}
	return used < limit
}

// needsRestart says whether the servers of a step that failed so may not serve
// another one.
func needsRestart(failure *results.Failure) bool {
	return failure != nil && slices.Contains([]results.FailureClass{results.FailNoProgress, results.FailRestarted, results.FailForeign}, failure.Class)
}
