package harness

import (
	"context"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/results"
)

// passRun is one pass of a step of method sqzb.
type passRun struct {
	result   *results.Result // nil: nothing was sent
	servers  []results.Server
	launched *results.Failure // why the servers did not come up
	took     time.Duration    // on servers that were up
}

// twoPasses runs a step of method sqzb: two passes with the same prompts, each
// on servers that were started for it, the second with answers of one token. A
// first pass that fails leaves out the second.
func (r *Runner) twoPasses(ctx context.Context, life plan.Life, a attempt) ([]attempt, error) {
	began := time.Now()
	first, err := r.runPass(ctx, life, a, nil)
	switch {
	case err != nil:
		return nil, err
	case first.launched != nil:
		return r.launchFailed(ctx, life, []attempt{a}, first.launched)
	case first.result == nil:
		return nil, r.notRun([]attempt{a}, r.skipped[life.VariantIndex])
	}
	result, took := first.result, first.took
	if result.Verdict != results.Failed {
		second, err := r.secondPass(ctx, life, a, first)
		if err != nil {
			return nil, err
		}
		took += second.took
		r.joinPasses(a, result, second, r.blocked(ctx, -1))
	}
	r.pace.step(a.Step, took, result.Verdict != results.Failed)
	r.pace.started(life.Variant, time.Since(began)-took)
	return r.conclude(ctx, life, a, result)
}

// secondPass runs the second pass, unless something keeps the run from it.
func (r *Runner) secondPass(ctx context.Context, life plan.Life, a attempt, first passRun) (passRun, error) {
	if kept := (passRun{launched: r.keptFrom(ctx, life)}); kept.launched != nil {
		return kept, nil //nolint:nilerr // it is what keeps the pass from running
	}
	a.pass, a.used = 2, first.took
	a.Asked.OutputLen = new(1)
	a.ports = portsOf(first.servers)
	return r.runPass(ctx, *life.SecondPass, a, first.servers)
}

// keptFrom says why no further server of a life may be started; nil: one may.
func (r *Runner) keptFrom(ctx context.Context, life plan.Life) *results.Failure {
	if low := r.disk.low(); low != nil {
		r.halt(low)
	}
	return r.blocked(ctx, life.VariantIndex)
}

// runPass is one server life with one pass. Its servers must be like those of
// the pass before; nil: there was none.
func (r *Runner) runPass(ctx context.Context, life plan.Life, a attempt, like []results.Server) (run passRun, err error) {
	id := r.freshLife(life.ID)
	defer r.afterLife(ctx, life, id)
	if run.launched = r.beforeLife(ctx, life, id); run.launched != nil {
		return run, nil
	}
	r.outlook(life, nil, false)
	servers, failure := r.launch(ctx, life, id, []attempt{a})
	if failure != nil {
		run.launched = failure
		return run, nil
	}
	defer r.starter.Stop(ctx, id, servers)
	run.servers = step.Infos(servers)
	if differ := passesDiffer(like, run.servers); like != nil && differ != "" {
		run.launched = results.Failf(results.FailPasses, "the servers of the two passes are not of one configuration: %s", differ)
		return run, nil
	}
	changed, err := r.knowEngine(life.Variant, servers)
	if changed != nil {
		r.skipped[life.VariantIndex] = changed
	}
	if err != nil || changed != nil {
		return run, err
	}
	r.outlook(life, &a.Step, true)
	began := time.Now()
	run.result, err = r.runStep(ctx, life, servers, a)
	run.took = time.Since(began)
	return run, err
}
