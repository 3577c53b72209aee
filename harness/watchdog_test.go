package harness

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// hang plays a client whose requests get no token in a drive, and tells its
// progress as the client does.
func (w *world) hang(drive int, p load.Progress) func(context.Context, int, *fakeServer) error {
	return func(ctx context.Context, n int, _ *fakeServer) error {
		if n != drive {
			return nil
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-tick.C:
				w.options[n-1].Progress(p)
			}
		}
	}
}

func TestNoProgress(t *testing.T) {
	tests := []struct {
		name    string
		warmups int
		told    load.Progress
		want    []string
		story   string
	}{
		{
			name: "requests are outstanding and nothing comes", told: load.Progress{InFlight: 3, OutputChunks: 7},
			want:  []string{"a_c1_r1 failed no-progress", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name: "it counts in the warm-up too", warmups: 2, told: load.Progress{InFlight: 1},
			want:  []string{"a_c1_r1 failed no-progress", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 01-a.2, stop 01-a.2, launch 02-b, stop 02-b",
		},
		{
			name: "a quiet schedule is not a hang", told: load.Progress{InFlight: 0},
			want:  []string{"a_c1_r1 failed deadline", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"},
			story: "launch 01-a, stop 01-a, launch 02-b, stop 02-b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Repeats, sc.StepDeadline, sc.Watchdog.Stall = 1, time.Hour, time.Minute
				for i := range sc.Points {
					sc.Points[i].Warmups = tt.warmups
				}
				w := &world{}
				w.drive = w.hang(1, tt.told)
				began := time.Now()
				run, _ := w.run(t.Context(), t, sc)
				if got := verdicts(run); !slices.Equal(got, tt.want) {
					t.Errorf("verdicts =\n %s, want\n %s", strings.Join(got, "\n "), strings.Join(tt.want, "\n "))
				}
				if got := strings.Join(w.story, ", "); got != tt.story {
					t.Errorf("story = %s, want %s", got, tt.story)
				}
				if took := time.Since(began); tt.told.InFlight > 0 && took > 2*time.Minute {
					t.Errorf("the hang took %s, want about the limit of a minute", took)
				}
			})
		})
	}
}

// A step of a scenario without deadlines ends, too.
func TestStepWithoutADeadlineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.StepDeadline, sc.Watchdog.Stall = 1, 0, 0
		w := &world{}
		w.drive = w.hang(1, load.Progress{InFlight: 1})
		began := time.Now()
		run, _ := w.run(t.Context(), t, sc)

		first := run.Steps[0].Result
		if first.Failure == nil || first.Failure.Class != results.FailDeadline ||
			!strings.Contains(first.Failure.Message, "6h0m0s, the limit where deadlines.step sets none") {
			t.Errorf("first step: %s %v, want the limit of 6 h", first.Verdict, first.Failure)
		}
		if took := time.Since(began); took > 7*time.Hour {
			t.Errorf("the run took %s, want about 6 h", took)
		}
	})
}

func TestNoProgressIsTriedAgainByItsClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Watchdog.Stall, sc.RetriesFor = 1, time.Minute, map[string]int{"no-progress": 1}
		w := &world{}
		w.drive = w.hang(1, load.Progress{InFlight: 1})
		run, _ := w.run(t.Context(), t, sc)
		first := run.Steps[0].Result
		if first.Verdict != results.OK || first.Step.Attempt != 2 || len(first.Earlier) != 1 ||
			first.Earlier[0].Class != results.FailNoProgress {
			t.Errorf("first step: %s, attempt %d, earlier %v; want ok in attempt 2 after no-progress", first.Verdict,
				first.Step.Attempt, first.Earlier)
		}
	})
}

func TestRetriesLeft(t *testing.T) {
	f := func(classes ...results.FailureClass) []results.FailureClass { return classes }
	tests := []struct {
		name    string
		retries int
		by      map[string]int
		failed  []results.FailureClass
		why     results.FailureClass
		want    bool
	}{
		{"none by default", 0, nil, nil, results.FailExited, false},
		{"one", 1, nil, nil, results.FailExited, true},
		{"one used by another class", 1, nil, f(results.FailStall), results.FailExited, false},
		{
			"its class has its own", 0,
			map[string]int{"server-exited": 2},
			f(results.FailExited),
			results.FailExited, true,
		},
		{
			"its own are used up", 5,
			map[string]int{"server-exited": 1},
			f(results.FailExited),
			results.FailExited, false,
		},
		{
			"those of classes with their own do not count", 1,
			map[string]int{"server-exited": 1},
			f(results.FailExited),
			results.FailStall, true,
		},
		{"none for a class", 3, map[string]int{"deadline": 0}, nil, results.FailDeadline, false},
		{"no retry cures it", 5, nil, nil, results.FailContext, false},
		{"nothing follows a final class", 5, map[string]int{"pruned": 5}, nil, results.FailPruned, false},
		{"but the scenario asks for it", 0, map[string]int{"context-too-small": 1}, nil, results.FailContext, true},
	}
	for _, tt := range tests {
		sc := &scenarios.Scenario{Retries: tt.retries, RetriesFor: tt.by}
		if got := retriesLeft(sc, tt.failed, tt.why); got != tt.want {
			t.Errorf("%s: retriesLeft = %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestCountersThatGoBackVoidTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats = 1
		w := &world{tokens: 1000}
		w.drive = func(_ context.Context, n int, s *fakeServer) error {
			if n == 1 {
				s.extra[scrape.RequestsTotal] = 5
				*s.tokens = 0
			}
			return nil
		}
		run, _ := w.run(t.Context(), t, sc)
		want := []string{"a_c1_r1 failed server-restarted", "a_c2_r1 ok", "b_c1_r1 ok", "b_c2_r1 ok"}
		if got := verdicts(run); !slices.Equal(got, want) {
			t.Errorf("verdicts = %q, want %q", got, want)
		}
		if run.Steps[0].Result.Figures == nil {
			t.Error("the figures of a void step are not kept")
		}
	})
}

func TestBoxThatCannotBeBroughtBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats, sc.Retries = 1, 5
		w := &world{launch: failLaunches(results.Failf(results.FailNoProof, "pid 7 is in an uninterruptible call"), 1)}
		run, outcome := w.run(t.Context(), t, sc)
		want := []string{
			"a_c1_r1 failed not-stopped", "a_c2_r1 failed not-stopped", "b_c1_r1 not run not-stopped",
			"b_c2_r1 not run not-stopped",
		}
		if got := verdicts(run); !slices.Equal(got, want) {
			t.Errorf("verdicts = %q, want %q", got, want)
		}
		if outcome.Ended == nil || outcome.Ended.Class != results.FailNoProof {
			t.Errorf("the run was ended by %v, want not-stopped", outcome.Ended)
		}
		last := run.Events[len(run.Events)-1]
		if last.Kind != results.RunFinished || last.Failure == nil || last.Failure.Class != results.FailNoProof {
			t.Errorf("last event = %+v, want the end of the run with its reason", last)
		}
	})
}
