package harness

import (
	"context"

	"benchrig/results"
	"benchrig/scenarios"
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
func (r *Runner) beforeRun(context.Context) *results.Failure { return nil }

// afterRun ends what beforeRun began. It works after ctx has ended.
func (r *Runner) afterRun(context.Context) {}

// beforeLife comes before the first spawn of a server life.
func (r *Runner) beforeLife(context.Context, Life, string) *results.Failure { return nil }

// afterLife comes after the proof of stop. It works after ctx has ended.
func (r *Runner) afterLife(context.Context, Life, string) {}

// beforeStep comes before the warm-up, on servers that are up.
func (r *Runner) beforeStep(context.Context, attempt, []Server, *results.Result) *results.Failure {
	return nil
}

// afterStep comes when the step has its verdict. It works after ctx has ended.
func (r *Runner) afterStep(context.Context, attempt, []Server, *results.Result) {}

// observers are what is watched beside the pass of a step.
func (r *Runner) observers([]Server, attempt) []Observer { return nil }
