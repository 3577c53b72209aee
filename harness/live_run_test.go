package harness

import (
	"context"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// controlled runs a scenario whose n-th drive does something to the run.
func controlled(t *testing.T, do map[int]func(*Control), launch func(*Control)) (*world, Outcome, *results.Run) {
	t.Helper()
	control := &Control{}
	w := &world{}
	w.runner = func(r *Runner) { r.Control = control }
	w.drive = func(ctx context.Context, n int, _ *fakeServer) error {
		if act := do[n]; act != nil {
			act(control)
			if control.Stopping() == nil {
				<-ctx.Done()
				return nil
			}
		}
		return nil
	}
	if launch != nil {
		w.launch = func(n int, _ recipe.Spec) error {
			if n == 1 {
				launch(control)
			}
			return nil
		}
	}
	sc := testScenario(scenarios.Grouped, scenarios.RestartVariant)
	sc.Retries, sc.OnFailure = 2, scenarios.StopRun
	run, outcome := w.run(t.Context(), t, sc)
	return w, outcome, run
}

// A skipped step has failed with its reason, is not tried again, and ends
// nothing else.
func TestSkipStep(t *testing.T) {
	w, outcome, run := controlled(t, map[int]func(*Control){1: func(c *Control) {
		if !c.Skip() || c.Skip() {
			t.Error("Skip() of a running step must work, once")
		}
	}}, nil)
	first := run.Steps[0].Result
	if first.Verdict != results.Failed || first.Failure.Class != results.FailSkipped {
		t.Errorf("the first step is %s, %v, want failed, skipped-by-user", first.Verdict, first.Failure)
	}
	if outcome.Failed != 1 || outcome.NotRun != 0 || outcome.Ended != nil {
		t.Errorf("outcome %+v, want one failed step and all others run; story %q", outcome, w.story)
	}
	if resume := NewResume(run, false); !resume.Keeps(first.Step.ID) {
		t.Error("a resume runs a step again that the user skipped")
	}
	if resume := NewResume(run, true); resume.Keeps(first.Step.ID) {
		t.Error("--retry-failed does not run a skipped step again")
	}
}

// After "stop after this one" the step has its result, and the rest is left to
// a resume.
func TestStopAfterStep(t *testing.T) {
	_, outcome, run := controlled(t, map[int]func(*Control){1: func(c *Control) { c.StopAfterStep(true) }}, nil)
	if outcome.OK+outcome.Suspect != 1 || outcome.Failed != 0 || outcome.NotRun != len(run.Steps)-1 {
		t.Errorf("outcome %+v, want one step done of %d", outcome, len(run.Steps))
	}
	if outcome.Ended == nil || outcome.Ended.Class != results.FailInterrupted {
		t.Errorf("the run ended by %v, want interrupted", outcome.Ended)
	}
	resume := NewResume(run, false)
	for i, s := range run.Steps {
		if got := resume.Keeps(s.Result.Step.ID); got != (i == 0) {
			t.Errorf("Keeps(%s) = %t, want %t", s.Result.Step.ID, got, i == 0)
		}
	}
}

// Asked for during a launch, the step that it is for still runs.
func TestStopAfterStepDuringLaunch(t *testing.T) {
	_, outcome, _ := controlled(t, nil, func(c *Control) { c.StopAfterStep(true) })
	if outcome.OK+outcome.Suspect != 1 || outcome.Ended == nil {
		t.Errorf("outcome %+v, want one step done", outcome)
	}
}
