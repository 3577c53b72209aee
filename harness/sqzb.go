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

// twoPasses is the method sqzb: two passes with the same prompts, each on
// servers that were started for it, the second with answers of one token. A
// first pass that fails leaves out the second.
type twoPasses struct{ *run }

func (m twoPasses) round(ctx context.Context, planned plan.Life, pending []attempt) ([]attempt, error) {
	a, began := pending[0], time.Now()
	first, err := m.pass(ctx, planned, a, nil)
	switch {
	case err != nil:
		return nil, err
	case first.launched != nil:
		m.budget.pace.startFailed(planned.Variant, time.Since(began))
		return m.launchFailed(ctx, planned, []attempt{a}, first.launched)
	case first.result == nil:
		return nil, m.leaveOut([]attempt{a}, m.skipped[planned.VariantIndex])
	}

	result, took := first.result, first.took
	if result.Verdict != results.Failed {
		second, err := m.second(ctx, planned, a, first)
		if err != nil {
			return nil, err
		}
		took += second.took
		joinPasses(m.folder.AttemptDir(a.ID, a.Attempt), result, second, m.blocked(ctx, -1))
	}

	m.budget.pace.step(a.Step, took, result.Verdict != results.Failed)
	m.budget.pace.started(planned.Variant, time.Since(began)-took)
	return m.conclude(ctx, planned, a, result)
}

// second runs the second pass, unless something keeps the run from it.
func (m twoPasses) second(ctx context.Context, planned plan.Life, a attempt, first passRun) (passRun, error) {
	if low := m.disk.low(); low != nil {
		m.halt(low)
	}
	if why := m.blocked(ctx, planned.VariantIndex); why != nil {
		return passRun{launched: why}, nil //nolint:nilerr // why is a verdict
	}

	a.pass, a.used, a.ports = 2, first.took, portsOf(first.servers)
	a.Asked.OutputLen = new(1)
	return m.pass(ctx, *planned.SecondPass, a, first.servers)
}

// pass is one server life with one pass. Its servers must be like those of the
// pass before; nil: there was none.
func (m twoPasses) pass(ctx context.Context, planned plan.Life, a attempt, like []results.Server) (p passRun,
	err error,
) {
	id := m.freshLife(planned.ID)
	defer m.hooks.AfterLife(ctx, planned)

	if p.launched = m.beforeLife(ctx, planned, id); p.launched != nil {
		return p, nil
	}

	m.outlook(planned, nil, false)
	servers, failure := m.launch(ctx, planned, id, []attempt{a})
	if failure != nil {
		p.launched = failure
		return p, nil
	}
	defer m.starter.Stop(ctx, id, servers)

	p.servers = step.Infos(servers)
	if differ := passesDiffer(like, p.servers); like != nil && differ != "" {
		p.launched = results.Failf(results.FailPasses, "the servers of the two passes are not of one configuration: %s",
			differ)
		return p, nil
	}

	changed, err := m.sameEngine(planned, servers)
	if err != nil || changed != nil {
		return p, err
	}

	m.outlook(planned, &a.Step, true)
	began := time.Now()
	p.result, err = m.steps.run(ctx, planned, servers, a)
	p.took = time.Since(began)
	return p, err
}
