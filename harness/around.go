package harness

import (
	"context"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// HookRunner runs what a scenario puts around the measuring.
type HookRunner interface {
	// Run carries out a hook. vars are BENCH_* variables that say what it
	// stands before or after.
	Run(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord
	// Undo puts a hook's change back.
	Undo(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord
	// Check looks at a condition of the box.
	Check(ctx context.Context, check scenarios.Check) results.HookRecord
}

// The functions below are called by the runner at the borders of a run, of a
// server life and of a step.

// beforeRun refuses the run when a check or hook says so.
func (r *Runner) beforeRun(ctx context.Context) *results.Failure { return r.hooksBeforeRun(ctx) }

// afterRun ends what beforeRun began. It works after ctx has ended.
func (r *Runner) afterRun(ctx context.Context) {
	r.Live.Enter(results.LiveEnding, 0, "")
	r.hooksAfterRun(ctx)
}

// beforeLife comes before the first spawn of a server life.
func (r *Runner) beforeLife(ctx context.Context, life plan.Life, id string) *results.Failure {
	if refused := r.hooksBeforeLife(ctx, life, id); refused != nil {
		return refused
	}
	r.Live.Enter(results.LiveIdle, 0, "")
	r.monitor.RestBefore(ctx, life)
	return nil
}

// afterLife comes after the proof of stop. It works after ctx has ended.
func (r *Runner) afterLife(ctx context.Context, life plan.Life, _ string) {
	r.hooksAfterLife(ctx, life)
}

// beforeStep comes before the warm-up, on servers that are up.
func (r *Runner) beforeStep(ctx context.Context, a attempt, servers []step.Server, result *results.Result) *results.Failure {
	if refused := r.hooksBeforeStep(ctx, a, servers, result); refused != nil {
		return refused
	}
	r.Live.Enter(results.LiveSettling, r.Scenario.Settle.Timeout, "GPUs are read")
	r.monitor.Begin(ctx, a.StepRef, r.dirOf(a), servers, result)
	return r.checkBefore(ctx, a, servers, result)
}

// afterStep comes when the step has its verdict. It works after ctx has ended.
func (r *Runner) afterStep(ctx context.Context, _ attempt, servers []step.Server, result *results.Result) {
	r.checkAfter(ctx, servers, result)
	r.monitor.End()
	r.hooksAfterStep(ctx, result)
}

// observers are what is watched beside the pass of a step.
func (r *Runner) observers(servers []step.Server, a attempt) []step.Observer {
	metrics := step.NewServerMetrics(servers, r.dirOf(a))
	metrics.Live = r.Live
	return append(r.monitor.Observers(), metrics)
}
