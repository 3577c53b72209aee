package harness

import (
	"fmt"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// SearchPolicy is the load that a scenario looks for; nil: none.
func SearchPolicy(sc *scenarios.Scenario) *results.SearchPolicy {
	s := sc.Search
	if s.Metric == "" {
		return nil
	}
	policy := &results.SearchPolicy{
		Metric: string(s.Metric), From: s.From, To: s.To, Targets: conditions(s.SLO), Steps: s.Steps, Tolerance: s.Tolerance,
	}
	if s.Start > 0 {
		policy.Start = &s.Start
	}
	return policy
}

// searched decides on the load of a step of a search, or that none is needed.
func (r *Runner) searched(s Step) decision {
	policy := SearchPolicy(r.Scenario)
	if policy == nil {
		return decision{}
	}
	before := r.finished(func(o Step) bool { return o.Variant == s.Variant && o.Repeat < s.Repeat })
	now := r.finished(func(o Step) bool { return o.Variant == s.Variant && o.Repeat == s.Repeat && o.point < s.point })
	next := metrics.NextOf(*policy, metrics.EstimateOf(*policy, before), metrics.ProbesOf(*policy, now))
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
