package harness

import (
	"fmt"
	"strconv"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// pruned says which lower point of the step's variant was lost; nil: none. The
// first repeat in which a point said something decides for all later ones, so
// that every point that is measured is measured as often as the others.
func (r *Runner) pruned(s plan.Step) *results.Failure {
	policy := plan.PrunePolicy(r.Scenario)
	if policy == nil {
		return nil
	}
	points := r.Scenario.Points
	for low := range points {
		if !points[s.PointIndex].Above(points[low]) {
			continue
		}
		tried := r.finished(func(o plan.Step) bool { return o.Variant == s.Variant && o.PointIndex == low && o.Repeat <= s.Repeat })
		for _, result := range tried {
			why, known := lost(*policy, result)
			if why != "" {
				return results.Failf(results.FailPruned, "%s was lost in repeat %d: %s", points[low].Label, result.Step.Repeat, why)
			}
			if known {
				break
			}
		}
	}
	return nil
}

// lost says why a step is lost; known is false where it says nothing of its
// point: it failed, and not by its requests.
func lost(policy results.PrunePolicy, r *results.Result) (why string, known bool) {
	if r.Verdict == results.Failed {
		if r.Failure != nil && r.Failure.Class == results.FailRequests {
			return r.Failure.Message, true
		}
		return "", false
	}
	for _, c := range policy.When {
		if value, holds := catalog.Holds(c, r); holds {
			return fmt.Sprintf("%s is %s, %s %g", c.Figure, strconv.FormatFloat(*value, 'g', 4, 64), c.Op, c.Value), true
		}
	}
	return "", true
}
