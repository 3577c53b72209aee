package harness

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// stepRunner runs single attempts of steps on servers that are up, with all that
// is around them: hooks, telemetry, the check who answers.
type stepRunner struct {
	scenario *scenarios.Scenario
	machine  plan.Machine
	folder   *store.Folder
	blank    results.Result // what every result of the run begins with
	live     *status.Live
	control  *Control
	journal  func(results.Event) error
	observe  func(status.Update) // of the step that runs
	halt     func(why *results.Failure)

	hooks    *hooks.Around
	monitor  *telemetry.Monitor
	engines  *engineBook
	preparer *step.Preparer

	startPause string // how a pause ran through the start of the servers; "": none did
}

// run runs one attempt: hooks, prompts, warm-up, counters, the measured pass,
// counters, result. The error is about the record keeping; what goes wrong with
// the step is in the result.
func (r *stepRunner) run(ctx context.Context, life plan.Life, servers []step.Server, a attempt) (*results.Result,
	error,
) {
	r.observe(status.Update{Kind: status.StepBegun, Step: a.StepRef, Pass: a.pass, Life: life.ID})
	began := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: servers[0].Info().Life}
	if a.pass > 1 {
		began.Kind = results.PassStarted
	}
	if err := r.journal(began); err != nil {
		return nil, err
	}

	result := r.newResult(a)
	r.live.BeginStep(a.StepRef, a.pass)
	ctx, leave := r.control.skippable(ctx, "step "+a.ID)
	defer leave()

	ctx, cancel := r.within(ctx, servers, a)
	defer cancel()

	defer r.after(ctx, servers, result)

	if err := r.folder.BeginAttempt(a.ID, a.Attempt); err != nil {
		step.Job{Servers: servers}.Complete(result, step.Pass{Failure: results.WriteFailure(err)})
		return result, nil
	}
	if refused := r.before(ctx, a, servers, result); refused != nil {
		step.Job{Servers: servers}.Complete(result, step.Pass{Failure: refused})
		return result, nil
	}

	job, err := r.preparer.Job(ctx, step.Request{
		Load: r.loadOf(a), Server: r.variant(a.Variant).Server, Servers: servers, Step: a.StepRef, Pass: a.pass,
		Dir: r.dirOf(a),
	}, result)
	if err != nil {
		result.StartedAt = results.Now()
		job.Complete(result, step.Pass{Failure: step.FailureOf(ctx, err)})
		return result, nil
	}

	job.Watch = r.observers(servers, a)
	if a.PointIndex == 0 {
		job.Evaluator = r.hooks.EvaluateStep
	}
	step.Drive(ctx, job, result)
	if result.Failure != nil && result.Failure.Class == results.FailDisk {
		r.halt(result.Failure)
	}

	extrapolate(result, r.variant(a.Variant).Extrapolate)
	return result, nil
}

// within gives a context that ends when the step's deadline passes, of which a
// pass before may have used a part, or a server ends; its cause says which.
func (r *stepRunner) within(ctx context.Context, servers []step.Server, a attempt) (_ context.Context, cancel func()) {
	limit, asked := plan.StepLimit(r.scenario, a.Step)
	late := results.Failf(results.FailDeadline, "the step's deadline of %s passed", limit)
	if !asked {
		late.Message = fmt.Sprintf("the step took longer than %s, the limit where deadlines.step sets none", limit)
	}

	ctx, timeout := awake.WithTimeoutCause(ctx, limit-a.used, late)

	ctx, end := context.WithCancelCause(ctx)
	for _, s := range servers {
		go func() {
			select {
			case <-s.Done():
				end(s.Failure())
			case <-ctx.Done():
			}
		}()
	}

	return ctx, func() { end(nil); timeout() }
}

// before comes before the warm-up. The failure keeps the step from being run.
func (r *stepRunner) before(ctx context.Context, a attempt, servers []step.Server,
	result *results.Result,
) *results.Failure {
	if refused := r.hooks.BeforeStep(ctx, a.StepRef, a.pass, step.Infos(servers), result); refused != nil {
		return refused
	}
	r.live.Enter(results.LiveSettling, r.scenario.Settle.Timeout, "GPUs are read")
	r.monitor.Begin(ctx, a.StepRef, r.dirOf(a), servers, result)

	if failure := r.engines.sameServers(ctx, servers); failure != nil {
		return failure
	}
	r.warnStart(result)
	r.warnRecipe(a, servers[0].Info().Version, result)
	return nil
}

// after comes when the step has its verdict. It works after ctx has ended.
func (r *stepRunner) after(ctx context.Context, servers []step.Server, result *results.Result) {
	r.engines.stillSame(ctx, servers, result)
	r.monitor.End()
	r.hooks.AfterStep(ctx, result)
}

// warnStart says that a pause ran through the start of the step's servers.
func (r *stepRunner) warnStart(result *results.Result) {
	if r.startPause != "" {
		result.Warnf(results.WarnPausedStart, "%s while the servers were started: their startup times contain that",
			r.startPause)
	}
}

// warnRecipe puts what is known of the recipe, and of the engine's version, into
// the result.
func (r *stepRunner) warnRecipe(a attempt, version string, result *results.Result) {
	v := r.variant(a.Variant)
	if kind := v.Server.Kind(); version != "" {
		for _, c := range engines.Conflicts(kind, plan.BaseSpec(r.scenario, v, kind, r.machine), version) {
			if c.NoEffect {
				result.Warnf(results.WarnNoEffect, "%s", c.Message)
			}
		}
	}
	if plan.SpeculatesAlone(r.scenario, v) {
		result.Warnf(results.WarnSpecBaseline, "%s", plan.AloneText)
	}
}

// observers are what is watched beside the pass of a step.
func (r *stepRunner) observers(servers []step.Server, a attempt) []step.Observer {
	metrics := step.NewServerMetrics(servers, r.dirOf(a))
	metrics.Live = r.live
	return append(r.monitor.Observers(), metrics)
}

// newResult is the result of an attempt before anything is known of it.
func (r *stepRunner) newResult(a attempt) *results.Result {
	result := r.blank
	result.Step, result.StartedAt, result.Asked, result.Earlier = a.StepRef, results.Now(), a.Asked, a.earlier
	if result.Changes = r.engines.changesOf(a.Variant); len(result.Changes) > 0 {
		result.Warnf(results.WarnChanged, "%s", strings.Join(result.Changes, "; "))
	}

	v := r.variant(a.Variant)
	result.Params = maps.Clone(v.Params)
	result.Simulated = v.Server.Kind().Simulated
	return &result
}

// price adds to a step what it cost, where the scenario has a price.
func (r *stepRunner) price(result *results.Result) {
	result.Cost = catalog.CostOf(result, plan.PriceOf(r.scenario, r.variant(result.Step.Variant)))
}

// variant is the variant of a name; of none, its zero value.
func (r *stepRunner) variant(name string) scenarios.Variant {
	v, _ := r.scenario.Variant(name)
	return v
}

// loadOf is the load of a step's attempt.
func (r *stepRunner) loadOf(a attempt) scenarios.Load {
	planned := plan.ShareOf(r.variant(a.Variant), r.scenario.Points[a.PointIndex])
	return plan.At(r.scenario.Search.Metric, planned, a.load)
}

// dirOf is the folder of what an attempt's pass leaves.
func (r *stepRunner) dirOf(a attempt) string {
	dir := r.folder.AttemptDir(a.ID, a.Attempt)
	if a.pass > 1 {
		return filepath.Join(dir, results.SecondPassName)
	}
	return dir
}

// extrapolate adds to a measured step what it would be for all the n replicas
// that the one stands for. What was measured stays as it is.
func extrapolate(result *results.Result, n int) {
	if n <= 1 || result.Figures == nil {
		return
	}

	share, load := 0, "without a cap on concurrency"
	if c := result.Asked.MaxConcurrency; c != nil {
		share, load = *c, fmt.Sprintf("with a max concurrency of %d", *c)
	}
	result.Extrapolated = results.Extrapolate(*result.Figures, n, share)
	result.Warnf(results.WarnExtrapolated, "one of %d replicas ran, %s, with idle neighbours and a client for itself; "+
		"rates multiplied by %d and a duration divided by it are extrapolated, not measured", n, load, n)
}
