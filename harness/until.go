package harness

import (
	"fmt"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// repeatedEnough says why a step's round of repeats is not needed; nil: it is.
// All steps of a round get the same answer, for only rounds before it count.
func (r *Runner) repeatedEnough(s plan.Step) *results.Failure {
	policy := plan.RepeatsPolicy(r.Scenario)
	if policy == nil || s.Repeat <= policy.Min {
		return nil
	}
	widest, ok := compare.Widest(*policy, r.finished(func(o plan.Step) bool { return o.Repeat < s.Repeat }))
	switch {
	case !ok:
		return results.Failf(results.FailNotNeeded, "no variant has a result that a further repeat could make more certain")
	case !widest.Narrow(*policy):
		return nil
	}
	return results.Failf(results.FailNotNeeded, "the intervals are narrow enough: %s", widthText(widest))
}

// widthText is the widest interval in words.
func widthText(w compare.Width) string {
	return fmt.Sprintf("the widest is ±%.2f %%, of %s of %s at %s over %d server lives", 100**w.Relative, w.Figure, w.Variant, w.Point, w.Lives)
}
