package harness

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// runStep runs one attempt of a step on servers that are up: prompts, warm-up,
// counters, the measured pass, counters, result. The error is about the
// record keeping; what goes wrong with the step is in the result.
func (r *Runner) runStep(ctx context.Context, life plan.Life, servers []step.Server, a attempt) (*results.Result, error) {
	r.observe(status.Update{Kind: status.StepBegun, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Life: life.ID})
	began := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: servers[0].Info().Life}
	if a.pass > 1 {
		began.Kind = results.PassStarted
	}
	if err := r.tell(began); err != nil {
		return nil, err
	}
	result := r.newResult(a)
	r.Live.BeginStep(a.StepRef, a.pass)
	skippable, leave := r.Control.skippable(ctx, "step "+a.ID)
	defer leave()
	stepCtx, cancel := r.stepContext(skippable, servers, a.used)
	defer cancel(nil)

	defer r.afterStep(ctx, a, servers, result)
	if refused := r.beforeStep(stepCtx, a, servers, result); refused != nil {
		step.Job{Servers: servers}.Complete(result, step.Pass{Failure: refused})
		return result, nil
	}
	job, err := r.preparer.Job(stepCtx, step.Request{
		Load: r.pointOf(a), Server: r.variant(a.Variant).Server, Servers: servers, Step: a.StepRef, Pass: a.pass, Dir: r.dirOf(a),
	}, result)
	if err != nil {
		result.StartedAt = results.Now()
		job.Complete(result, step.Pass{Failure: step.FailureOf(stepCtx, err)})
		return result, nil
	}
	job.Watch = r.observers(servers, a)
	step.Drive(stepCtx, job, result)
	if result.Failure != nil && result.Failure.Class == results.FailDisk {
		r.halt(result.Failure)
	}
	r.extrapolate(result)
	return result, nil
}

// stepContext ends when the step's deadline passes, of which a pass before may
// have used a part, or a server dies; its cause says which.
func (r *Runner) stepContext(ctx context.Context, servers []step.Server, used time.Duration) (context.Context, context.CancelCauseFunc) {
	timeout := context.CancelFunc(func() {})
	if d := r.Scenario.StepDeadline; d > 0 {
		ctx, timeout = context.WithTimeoutCause(ctx, d-used, results.Failf(results.FailDeadline, "the step's deadline of %s passed", d))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	for _, s := range servers {
		go func() {
			select {
			case <-s.Done():
				cancel(s.Failure())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func(cause error) { cancel(cause); timeout() }
}

// newResult is the result of an attempt before anything is known of it.
func (r *Runner) newResult(a attempt) *results.Result {
	ref := a.StepRef
	result := &results.Result{
		Format: results.FormatVersion, Bench: r.Version, Scenario: r.Scenario.Name, Run: r.RunID, Node: r.Node, Step: ref,
		StartedAt: results.Now(), Asked: a.Asked, Earlier: a.earlier, Changes: r.changesOf(ref.Variant),
	}
	if len(result.Changes) > 0 {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnChanged, Message: strings.Join(result.Changes, "; ")})
	}

	v := r.variant(ref.Variant)
	result.Params = maps.Clone(v.Params)
	kind, _ := engines.Lookup(v.Server.Launcher)
	result.Simulated = kind.Simulated
	return result
}

// priced adds to a step what it cost, where the scenario has a price.
func (r *Runner) priced(result *results.Result) {
	result.Cost = catalog.CostOf(result, plan.PriceOf(r.Scenario, r.variant(result.Step.Variant)))
}

// newPreparer is what makes the jobs of steps.
func (r *Runner) newPreparer() *step.Preparer {
	return &step.Preparer{
		Driver: r.Driver, Client: r.Scenario.Client, Stall: r.Scenario.Watchdog.Stall, RunID: r.RunID, Folder: r.Folder,
		Frozen: r.Plan.FrozenPrompts, Live: r.Live, Observe: r.observeStep,
	}
}

// variant is the variant of a name; of none, its zero value.
func (r *Runner) variant(name string) scenarios.Variant {
	i := slices.IndexFunc(r.Scenario.Variants, func(v scenarios.Variant) bool { return v.Name == name })
	if i < 0 {
		return scenarios.Variant{}
	}
	return r.Scenario.Variants[i]
}
