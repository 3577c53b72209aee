package harness

import (
	"fmt"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/results"
)

// searched decides on the load of a step of a search, or that none is needed.
func (r *Runner) searched(s plan.Step) decision {
	policy := plan.SearchPolicy(r.Scenario)
	if policy == nil {
		return decision{}
	}
	before := r.finished(func(o plan.Step) bool { return o.Variant == s.Variant && o.Repeat < s.Repeat })
	now := r.finished(func(o plan.Step) bool {
		return o.Variant == s.Variant && o.Repeat == s.Repeat && o.PointIndex < s.PointIndex
	})
	next := search.NextOf(*policy, search.EstimateOf(*policy, before), search.ProbesOf(*policy, now))
	if next.Done {
		return decision{spared: results.Failf(results.FailNotNeeded, "the search of repeat %d of %s ended after %s: %s",
			s.Repeat, s.Variant, steps(len(now)), next.Why)}
	}
	return decision{load: next.Load}
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
