package harness

import (
	"context"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/results"
)

// serving is the method with one pass a step: steps share servers as the restart
// policy says.
type serving struct{ *run }

func (m serving) round(ctx context.Context, planned plan.Life, pending []attempt) ([]attempt, error) {
	id := m.freshLife(planned.ID)
	began, busy := time.Now(), m.budget.pace.busy
	defer m.hooks.AfterLife(ctx, planned)

	failure := m.beforeLife(ctx, planned, id)

	var servers []step.Server
	if failure == nil {
		m.outlook(planned, nil, false)
		servers, failure = m.launch(ctx, planned, id, pending)
	}
	if failure != nil {
		m.budget.pace.startFailed(planned.Variant, time.Since(began))
		return m.launchFailed(ctx, planned, pending, failure)
	}

	changed, err := m.sameEngine(planned, servers)
	switch {
	case err != nil:
	case changed != nil:
		pending, err = nil, m.leaveOut(pending, changed)
	default:
		pending, err = m.serve(ctx, planned, servers, pending)
	}

	m.starter.Stop(ctx, id, servers)
	inSteps := time.Duration((m.budget.pace.busy - busy) * float64(time.Second))
	m.budget.pace.started(planned.Variant, time.Since(began)-inSteps)
	return pending, err
}

// serve runs the pending steps on servers that are up and returns those still
// to be run, on servers of their own: after a retryable failure or a death.
func (m serving) serve(ctx context.Context, planned plan.Life, servers []step.Server, pending []attempt) ([]attempt,
	error,
) {
	for first := true; len(pending) > 0; first = false {
		if !first { // who asked during the launch meant the step that it is for
			m.applyUserStop()
		}
		var err error
		if pending, err = m.startable(ctx, planned, pending, true); err != nil || len(pending) == 0 {
			return nil, err
		}

		a := pending[0]
		m.outlook(planned, &a.Step, true)
		began := time.Now()
		result, err := m.steps.run(ctx, planned, servers, a)
		if err != nil {
			return nil, err
		}
		m.budget.pace.step(a.Step, time.Since(began), result.Verdict != results.Failed)

		if result.Verdict == results.Failed &&
			m.mayRetry(ctx, planned.VariantIndex, a.failed, result.Failure.Class) {
			pending[0] = a.again(*result.Failure)
			return pending, m.closeAttempt(result, true)
		}
		if why := m.mustRepeat(ctx, planned, servers, a, result); why != nil {
			pending[0] = a.again(*why)
			if err := m.closeAttempt(result, true); err != nil {
				return nil, err
			}
			continue
		}

		if err := m.finish(planned, result); err != nil {
			return nil, err
		}
		pending = pending[1:]
		if anyDead(servers) || needsRestart(result.Failure) {
			return pending, nil
		}
	}

	return nil, nil
}

// mustRepeat says why a measured step is to be repeated on the same servers and
// still may; nil if it stands as it is.
func (m serving) mustRepeat(ctx context.Context, planned plan.Life, servers []step.Server, a attempt,
	result *results.Result,
) *results.Failure {
	why := m.repeatReason(result)
	if why == nil || anyDead(servers) || !m.mayRetry(ctx, planned.VariantIndex, a.failed, why.Class) {
		return nil
	}
	return why
}
