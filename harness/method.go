package harness

import (
	"context"
	"path/filepath"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// pointOf is the load of a step's attempt.
func (r *Runner) pointOf(a attempt) scenarios.Load {
	planned := plan.ShareOf(r.variant(a.Variant), r.Scenario.Points[a.PointIndex])
	return plan.At(r.Scenario.Search.Metric, planned, a.load)
}

// dirOf is the folder of what an attempt's pass leaves.
func (r *Runner) dirOf(a attempt) string {
	dir := r.Folder.StepDir(a.ID)
	if a.pass > 1 {
		return filepath.Join(dir, results.SecondPassName)
	}
	return dir
}

// conclude ends an attempt of a step that had its programs for itself: with
// another attempt, or for good.
func (r *Runner) conclude(ctx context.Context, life plan.Life, a attempt, result *results.Result) ([]attempt, error) {
	why := result.Failure
	if result.Verdict != results.Failed {
		why = r.monitor.MustRepeat(result)
	}
	if why != nil && why.Class.Retryable() && r.blocked(ctx, life.VariantIndex) == nil && r.retriesLeft(a, why.Class) {
		a.pass, a.used = 0, 0
		return []attempt{a.again(*why)}, r.closeAttempt(result)
	}
	return nil, r.finish(life, result)
}
