package harness

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// A run that is cut off between two attempts of a step owes the second one.
func TestResumeRunsTheAttemptThatIsDue(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(*world, context.CancelCauseFunc)
	}{
		{"in the launch for it", func(w *world, cancel context.CancelCauseFunc) {
			w.launch = func(n int, _ recipe.Spec) error {
				if n < 2 {
					return nil
				}
				cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
				return results.Failf(results.FailInterrupted, "stopped by SIGINT")
			}
		}},
		{"before its launch", func(w *world, cancel context.CancelCauseFunc) {
			w.drive = func(_ context.Context, _ int, s *fakeServer) error {
				s.onStop = func() { cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT")) }
				return results.Failf(results.FailNoProgress, "no token")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				sc := testScenario(scenarios.Grouped, scenarios.RestartVariant)
				sc.Repeats, sc.Retries, sc.Variants, sc.Points = 1, 1, sc.Variants[:1], sc.Points[:1]
				w := &world{folders: true, drive: func(context.Context, int, *fakeServer) error {
					return results.Failf(results.FailNoProgress, "no token")
				}}
				c.cut(w, cancel)
				before, _ := w.run(ctx, t, sc)
				if resume := NewResume(before, false); resume.Keeps("a_c1_r1") || resume.Done(before) {
					t.Fatalf("the step stays as %q, want it open", verdicts(before))
				}

				w.launch, w.drive = nil, nil
				run, _ := w.resume(t.Context(), t, sc, before.Dir, nil)
				result := run.Steps[0].Result
				if got := verdicts(run); got[0] != "a_c1_r1 ok" || result.Step.Attempt != 2 ||
					len(result.Earlier) != 1 {
					t.Errorf("%q, attempt %d after %d, want ok at the second", got, result.Step.Attempt,
						len(result.Earlier))
				}
			})
		})
	}
}

// on-failure: skip-variant holds after a resume as it would have held before.
func TestSkipVariantSurvivesResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exited := results.Failf(results.FailExited, "exit code 0")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.OnFailure = scenarios.SkipVariant
		w := &world{folders: true}
		w.drive = func(ctx context.Context, n int, s *fakeServer) error {
			switch n {
			case 1:
				s.die(exited)
			case 2:
				cancel(results.Failf(results.FailInterrupted, "stopped by SIGINT"))
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		before, _ := w.run(ctx, t, sc)
		w.drive, w.story = nil, nil

		run, _ := w.resume(t.Context(), t, sc, before.Dir, nil)
		for _, verdict := range verdicts(run)[1:] {
			want := "ok"
			if strings.HasPrefix(verdict, "a_") {
				want = "not run earlier-failure"
			}
			if !strings.HasSuffix(verdict, want) {
				t.Errorf("%s, want %s", verdict, want)
			}
		}
		if story := strings.Join(w.story, ", "); strings.Contains(story, "-a") {
			t.Errorf("story = %s, want no server of variant a", story)
		}
	})
}

// A point that a retried step shows to be lost is not needed, also where an
// older result of it failed: the run comes to its end.
func TestRetryFailedCanPrune(t *testing.T) {
	d := &curveDriver{ttft: func(c int) float64 { return 0.02 * float64(c) }}
	sc := pruneScenario()
	sc.Variants, sc.Repeats = sc.Variants[:1], 1
	w := d.world()
	w.folders = true
	w.launch = failLaunches(results.Failf(results.FailExited, "exit code 0"), 1)
	before, _ := w.run(d.ctx(t), t, sc)
	if got := verdicts(before); !strings.HasSuffix(got[3], "failed server-exited") {
		t.Fatalf("verdicts = %q, want all failed", got)
	}

	w.launch = nil
	run, outcome := w.resume(d.ctx(t), t, sc, before.Dir, func(r *Resume) { *r = *NewResume(before, true) })
	if outcome.NotNeeded != 2 || outcome.Failed != 0 {
		t.Errorf("outcome = %+v, want two steps not needed and none failed", outcome)
	}
	if !NewResume(run, true).Done(run) {
		t.Errorf("the run is not done: %q", verdicts(run))
	}
}

// Retries of a launch are its own: neither takes those of a step, nor a step
// those of a launch.
func TestLaunchRetriesAreCountedPerLife(t *testing.T) {
	exited := results.Failf(results.FailExited, "exit code 0")
	for _, c := range []struct {
		name           string
		launches, dies []int // launches that fail, passes in which the server dies
		want           string
		attempts       int // of the first step
	}{
		{"the step's retry is used, then a launch fails", []int{2}, []int{1}, "a_c1_r1 ok", 3},
		{"a launch fails, then the step", []int{1}, []int{1}, "a_c1_r1 ok", 3},
		{"the step fails twice", nil, []int{1, 2}, "a_c1_r1 failed server-exited", 2},
		{"launches fail twice", []int{1, 2}, nil, "a_c1_r1 failed server-exited", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats, sc.Retries, sc.Variants = 1, 1, sc.Variants[:1]
				w := &world{
					drive: func(ctx context.Context, n int, s *fakeServer) error {
						if !slices.Contains(c.dies, n) {
							return nil
						}
						return dieAt(n, exited)(ctx, n, s)
					},
					launch: func(n int, _ recipe.Spec) error {
						if slices.Contains(c.launches, n) {
							return exited
						}
						return nil
					},
				}
				run, _ := w.run(t.Context(), t, sc)
				result := run.Steps[0].Result
				if got := verdicts(run)[0]; got != c.want || result.Step.Attempt != c.attempts ||
					len(result.Earlier) != c.attempts-1 {
					t.Errorf("%s, attempt %d after %d earlier ones, want %s, attempt %d", got, result.Step.Attempt,
						len(result.Earlier), c.want, c.attempts)
				}
			})
		})
	}
}

// What no retry can cure is not tried again by a method that serves either.
func TestServingDoesNotRetryInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Retries, sc.Variants = 1, 4, sc.Variants[:1]
		w := &world{drive: func(_ context.Context, n int, _ *fakeServer) error {
			if n == 1 {
				return results.Failf(results.FailContext, "none of the prompts fits")
			}
			return nil
		}}
		run, _ := w.run(t.Context(), t, sc)
		if got, want := verdicts(run), []string{"a_c1_r1 failed context-too-small", "a_c2_r1 ok"}; !slices.Equal(got,
			want) {
			t.Errorf("verdicts = %q, want %q", got, want)
		}
		if w.launches != 1 {
			t.Errorf("%d server starts, want 1", w.launches)
		}
	})
}

// A budget counts what will run: steps of a search beyond its end, pruned steps
// and steps of servers that did not come up cost nothing.
func TestBudgetCountsOnlyWhatRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline time.Duration
		scenario func() *scenarios.Scenario
		launch   func(int, recipe.Spec) error
		each     time.Duration
		ttft     func(int) float64
	}{
		{
			name: "a search", deadline: 225 * time.Minute, scenario: searchScenario, each: 5 * time.Minute,
			ttft: func(c int) float64 { return 0.01 * float64(c) },
		},
		{
			name: "pruned points", deadline: 165 * time.Minute, scenario: pruneScenario, each: 20 * time.Minute,
			ttft: func(c int) float64 { return 0.02 * float64(c) },
		},
		{
			name: "a variant that does not start", deadline: 5 * time.Hour, each: time.Hour,
			scenario: func() *scenarios.Scenario {
				return testScenario(scenarios.Interleaved, scenarios.RestartVariant)
			},
			launch: func(_ int, spec recipe.Spec) error {
				if spec.Model == "m-b" {
					return results.Failf(results.FailBadFlag, "--x")
				}
				return nil
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := c.scenario()
				sc.RunDeadline = c.deadline
				w := &world{}
				if c.ttft != nil {
					d := &curveDriver{ttft: c.ttft, each: c.each}
					w = d.world()
				}
				w.each, w.launch = c.each, c.launch
				run, outcome := w.run(t.Context(), t, sc)
				if outcome.NotRun > 0 || outcome.Ended != nil {
					t.Errorf("outcome = %+v, %q, want nothing left out", outcome, verdicts(run))
				}
			})
		})
	}
}

// Open counts what a resume would run: whether to speak of one at all.
func TestOutcomeCountsOpenSteps(t *testing.T) {
	noProof := results.Failf(results.FailNoProof, "pid 7 is still there")
	for _, c := range []struct {
		name   string
		world  *world
		change func(*scenarios.Scenario)
		ended  results.FailureClass
		open   int
	}{
		{name: "nothing ended it", world: &world{}},
		{
			name: "the last server cannot be proven gone", ended: results.FailNoProof, world: &world{stopErr: noProof},
			change: func(sc *scenarios.Scenario) {
				sc.Variants = sc.Variants[:1]
			},
		},
		{name: "one of several cannot", ended: results.FailNoProof, world: &world{stopErr: noProof}, open: 2},
		{
			name: "the run's deadline", ended: results.FailDeadline, world: &world{drive: hangAt(2)}, open: 3,
			change: func(sc *scenarios.Scenario) {
				sc.RunDeadline = time.Hour
			},
		},
		{
			name: "a variant was given up", world: &world{drive: dieAt(1, results.Failf(results.FailExited,
				"exit code 0"))},
			change: func(sc *scenarios.Scenario) { sc.OnFailure = scenarios.SkipVariant },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats = 1
				if c.change != nil {
					c.change(sc)
				}
				_, outcome := c.world.run(t.Context(), t, sc)
				if ended := outcome.Ended; (ended == nil) != (c.ended == "") || ended != nil &&
					ended.Class != c.ended || outcome.Open != c.open {
					t.Errorf("ended by %v, %d steps open, want %q and %d", outcome.Ended, outcome.Open, c.ended, c.open)
				}
			})
		})
	}
}

// The gravest cause of a halt is kept, whichever comes first.
func TestHaltKeepsTheGravestCause(t *testing.T) {
	user, disk := results.Failf(results.FailInterrupted, "stopped by the user"), results.Failf(results.FailDisk, "full")
	gone := results.Failf(results.FailNoProof, "pid 7 is still there")
	for _, order := range [][]*results.Failure{
		{user, disk, gone},
		{gone, disk, user},
		{disk, gone, user},
		{gone, user, disk},
	} {
		var h halt
		for _, why := range order {
			h.set(why)
		}
		if h.why != gone {
			t.Errorf("after %v the cause is %v, want %v", order, h.why, gone)
		}
	}
	var h halt
	h.set(user)
	if h.set(results.Failf(results.FailHook, "later")); h.why != user {
		t.Errorf("the cause is %v, want the first of equals", h.why)
	}
}
