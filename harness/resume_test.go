package harness

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// interrupted runs a scenario that is ended in a drive.
func (w *world) interrupted(t *testing.T, sc *scenarios.Scenario, drive int) *results.Run {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	w.drive = func(ctx context.Context, n int, _ *fakeServer) error {
		if n != drive {
			return nil
		}
		cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
		<-ctx.Done()
		return context.Cause(ctx)
	}
	run, _ := w.run(ctx, t, sc)
	w.drive, w.story = nil, nil
	return run
}

func TestResumeGoesOn(t *testing.T) {
	exited := results.Failf(results.FailExited, "exit code 0")
	tests := []struct {
		name   string
		drive  int // that is interrupted
		fail   int // launch that fails
		change func(*Resume)
		retry  bool
		want   []string
		story  string
		second int // attempt of the second step
	}{
		{
			name: "a step was under way", drive: 2, second: 2,
			want:  []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name: "a whole life is done", drive: 3, second: 1,
			want:  []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 02-b.2, stop 02-b.2",
		},
		{
			name: "failed steps stay", drive: 1, fail: 1, second: 1,
			want:  []string{"a_c1_r1 failed server-exited", "a_c2_r1 failed server-exited", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 02-b.2, stop 02-b.2",
		},
		{
			name: "failed steps are run again if asked for", drive: 1, fail: 1, second: 2, retry: true,
			want:  []string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a.2, stop 01-a.2, launch 02-b.2, stop 02-b.2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats = 1
				w := &world{folders: true, launch: failLaunches(exited, tt.fail)}
				before := w.interrupted(t, sc, tt.drive)
				w.launch = nil
				run, outcome := w.resume(t.Context(), t, sc, before.Dir, func(r *Resume) {
					if tt.retry {
						*r = *NewResume(before, true)
					}
				})
				if got := verdicts(run); !slices.Equal(got, tt.want) {
					t.Errorf("verdicts =\n %s, want\n %s", strings.Join(got, "\n "), strings.Join(tt.want, "\n "))
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				if got := run.Steps[1].Result.Step.Attempt; got != tt.second {
					t.Errorf("second step has attempt %d, want %d", got, tt.second)
				}
				if total := outcome.OK + outcome.Suspect + outcome.Failed + outcome.NotRun; total != 4 {
					t.Errorf("outcome = %+v counts %d steps, want 4", outcome, total)
				}
				if !run.Finished || !NewResume(run, false).Done(run) {
					t.Error("the resumed run is not finished")
				}
			})
		})
	}
}

func TestResumeRunsWhatADeadlineLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.RunDeadline = 25 * time.Minute // cuts the third step
		w := &world{each: 10 * time.Minute, folders: true}
		before, _ := w.run(t.Context(), t, sc)
		if got := verdicts(before)[2]; got != "b_c1_r1 failed deadline" {
			t.Fatalf("third step: %s, want it cut by the deadline", got)
		}
		w.each = time.Minute
		run, _ := w.resume(t.Context(), t, sc, before.Dir, nil)
		for _, s := range run.Steps {
			if s.Result.Verdict != results.OK {
				t.Errorf("%s: %s %v", s.Result.Step.ID, s.Result.Verdict, s.Result.Failure)
			}
		}
	})
}

// A journal that ends where a SIGKILL may end it.
func TestNewResumeAfterKill(t *testing.T) {
	ok := func(attempt int, v results.Verdict, why *results.Failure) *results.Result {
		return &results.Result{Step: results.StepRef{ID: "s", Attempt: attempt}, Verdict: v, Failure: why}
	}
	started := func(n int) results.Event { return results.Event{Kind: results.StepStarted, Step: "s", Attempt: n} }
	ended := func(n int, v results.Verdict, f *results.Failure) results.Event {
		return results.Event{Kind: results.StepFinished, Step: "s", Attempt: n, Verdict: v, Failure: f}
	}
	exited := results.Failf(results.FailExited, "exit code 1")
	tests := []struct {
		name    string
		step    results.Step
		events  []results.Event
		kept    bool
		untold  int
		begun   int
		earlier []results.FailureClass
	}{
		{
			"never begun",
			results.Step{State: results.StepPending, Result: ok(1, results.NotRun, exited)},
			nil,
			false, 0, 0, nil,
		},
		{
			"killed in the first attempt",
			results.Step{State: results.StepInterrupted, Attempt: 1, Open: 1, Result: ok(1, results.NotRun, exited)},
			[]results.Event{started(1)},
			false, 0, 1,
			[]results.FailureClass{results.FailInterrupted},
		},
		{
			"killed between result and journal",
			results.Step{State: results.StepDone, Attempt: 1, Result: ok(1, results.OK, nil)},
			[]results.Event{started(1)},
			true, 1, 0, nil,
		},
		{
			"killed in a further attempt",
			results.Step{State: results.StepDone, Attempt: 2, Open: 2, Result: ok(1, results.Failed, exited)},
			[]results.Event{started(1), ended(1, results.Failed, exited), started(2)},
			false, 0, 2,
			[]results.FailureClass{results.FailExited, results.FailInterrupted},
		},
		{
			"killed twice",
			results.Step{State: results.StepInterrupted, Attempt: 2, Open: 2, Result: ok(2, results.NotRun, exited)},
			[]results.Event{started(1), started(2)},
			false, 0, 2,
			[]results.FailureClass{results.FailInterrupted, results.FailInterrupted},
		},
		{
			"failed for good",
			results.Step{State: results.StepDone, Attempt: 1, Result: ok(1, results.Failed, exited)},
			[]results.Event{started(1), ended(1, results.Failed, exited)},
			true, 0, 0, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewResume(&results.Run{Steps: []results.Step{tt.step}, Events: tt.events}, false)
			if _, kept := r.kept["s"]; kept != tt.kept {
				t.Errorf("kept = %t, want %t", kept, tt.kept)
			}
			if len(r.untold) != tt.untold {
				t.Errorf("%d ends are missing from the journal, want %d", len(r.untold), tt.untold)
			}
			if r.begun["s"] != tt.begun {
				t.Errorf("begun attempt = %d, want %d", r.begun["s"], tt.begun)
			}
			var classes []results.FailureClass
			for _, f := range r.earlier["s"] {
				classes = append(classes, f.Class)
			}
			if !slices.Equal(classes, tt.earlier) {
				t.Errorf("earlier = %v, want %v", classes, tt.earlier)
			}
		})
	}
}

func TestResumeWithAnotherEngine(t *testing.T) {
	tests := []struct {
		name    string
		allowed bool
		want    []string
		story   string
	}{
		{
			"refused", false,
			[]string{"a_c1_r1 not run changed", "a_c2_r1 not run changed", "b_c1_r1 ok", "b_c2_r1 ok"},
			"launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			"allowed", true,
			[]string{"a_c1_r1 ok", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			"launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats = 1
				w := &world{version: "0.9.0", folders: true}
				before := w.interrupted(t, sc, 1)
				w.version = "0.9.1"
				run, _ := w.resume(t.Context(), t, sc, before.Dir, func(r *Resume) {
					r.AllowChanged, r.Changes = tt.allowed, []string{"kernel: other"}
				})
				if got := verdicts(run); !slices.Equal(got, tt.want) {
					t.Errorf("verdicts = %q, want %q", got, tt.want)
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				second, third := run.Steps[1].Result, run.Steps[2].Result
				if want := []string{
					"kernel: other",
					`engine version of variant a: "0.9.1", at the start "0.9.0"`,
				}; tt.allowed &&
					!slices.Equal(second.Changes, want) {
					t.Errorf("changes of the step = %q, want %q", second.Changes, want)
				}
				if want := []string{"kernel: other"}; !slices.Equal(third.Changes, want) {
					t.Errorf("changes of a variant that ran for the first time = %q, want %q", third.Changes, want)
				}
				warned := slices.ContainsFunc(third.Warnings, func(w results.Warning) bool {
					return w.Code == results.WarnChanged
				})
				if !warned {
					t.Errorf("no warning %s in %v", results.WarnChanged, third.Warnings)
				}
			})
		})
	}
}

// Times are compared as moments: their texts differ by zone, and across the
// hour that winter time repeats.
func TestByStart(t *testing.T) {
	order := []string{
		"2026-10-25T00:30:00Z", "2026-10-25T02:45:00+02:00", "2026-10-25T02:15:00+01:00",
		"2026-10-24T21:00:00-05:00", "",
	}
	var steps []results.Step
	for _, at := range []int{4, 3, 2, 1, 0} {
		steps = append(steps, results.Step{Result: &results.Result{StartedAt: order[at]}})
	}
	slices.SortStableFunc(steps, byStart)
	for i, want := range order {
		if got := steps[i].Result.StartedAt; got != want {
			t.Errorf("place %d: started at %q, want %q", i, got, want)
		}
	}
}
