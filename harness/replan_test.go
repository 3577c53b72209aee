package harness

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func TestRunDeadlineDropsLaterRepeats(t *testing.T) {
	tests := []struct {
		name     string
		order    scenarios.Order
		deadline time.Duration // four steps a repeat, ten minutes each
		want     string        // verdicts of r1, r2, r3 as letters, o ok, d not run by the deadline, f failed
	}{
		{"time for all", scenarios.Interleaved, 3 * time.Hour, "oooo oooo oooo"},
		{"the third repeat does not fit", scenarios.Interleaved, 100 * time.Minute, "oooo oooo dddd"},
		{"nor does the second", scenarios.Interleaved, 70 * time.Minute, "oooo dddd dddd"},
		{"grouped: variants get the same repeats", scenarios.Grouped, 100 * time.Minute, "oooo oooo dddd"},
		{"grouped: one repeat each", scenarios.Grouped, 65 * time.Minute, "oooo dddd dddd"},
		{"the first repeat is never left out", scenarios.Interleaved, 25 * time.Minute, "oofd dddd dddd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(tt.order, scenarios.RestartVariant)
				sc.Repeats, sc.RunDeadline = 3, tt.deadline
				w := &world{each: 10 * time.Minute}
				run, _ := w.run(t.Context(), t, sc)
				byRepeat := map[int]string{}
				for _, s := range run.Steps {
					letter := "o"
					switch {
					case s.Result.Verdict == results.NotRun && s.Result.Failure.Class == results.FailDeadline:
						letter = "d"
					case s.Result.Verdict != results.OK:
						letter = "f"
					}
					byRepeat[s.Result.Step.Repeat] += letter
				}
				if got := strings.Join([]string{byRepeat[1], byRepeat[2], byRepeat[3]}, " "); got != tt.want {
					t.Errorf("verdicts by repeat = %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestDroppedRepeatsSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.RunDeadline = 50 * time.Minute
		w := &world{each: 10 * time.Minute}
		run, outcome := w.run(t.Context(), t, sc)
		want := "repeats from 2 on are left out: the rest would take about 40m0s with them, and 10m0s are left of " +
			"the run's deadline of 50m0s"
		if got := run.Steps[7].Result.Failure; got == nil || got.Message != want {
			t.Errorf("failure = %v, want %s", got, want)
		}
		if outcome.NotRun != 4 || outcome.Ended != nil {
			t.Errorf("outcome = %+v, want 4 steps not run and a run that came to its end", outcome)
		}
	})
}

// With until, nothing is begun that would end after it, by what was learned; what
// still fits is run, in the first repeat too, and the notification says why the rest
// was not.
func TestUntilBeginsNothingThatCannotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.Repeats = 2
		by, err := scenarios.ParseMoment(time.Now().Add(35 * time.Minute).Format(time.RFC3339))
		if err != nil {
			t.Fatal(err)
		}
		sc.EndBy = by
		sc.Notify = []scenarios.Notify{{Format: "ntfy", On: []string{"end"}}}
		w := &world{each: 10 * time.Minute}
		run, outcome := w.run(t.Context(), t, sc)
		if outcome.OK != 3 || outcome.NotRun != 5 || outcome.Failed != 0 || outcome.Ended != nil {
			t.Errorf("outcome = %+v, want three steps of ten minutes in 35, and none cut off", outcome)
		}
		for _, s := range run.Steps {
			f := s.Result.Failure
			if f != nil && (!strings.Contains(f.Message, "the time until "+by.String()) || f.Until != by.String()) {
				t.Errorf("step %s: %v, %q, want until as the reason", s.Result.Step.ID, f, f.Until)
			}
		}
	})
}

// The end of a run is told with the fastest variants and with why steps have no
// figures.
func TestNotificationNamesResultAndCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
		sc.RunDeadline = 50 * time.Minute
		sc.Notify = []scenarios.Notify{{Format: "ntfy", On: []string{"end"}}}
		w := &world{each: 10 * time.Minute}
		h := &fakeHooks{world: w}
		w.hooks = h
		w.run(t.Context(), t, sc)
		if len(h.messages) != 1 {
			t.Fatalf("%d messages, want one", len(h.messages))
		}
		m := h.messages[0]
		if len(m.Causes) != 1 || !strings.HasPrefix(m.Causes[0], "4 steps: deadline: repeats from 2 on are left out") {
			t.Errorf("causes = %q, want the deadline and its four steps", m.Causes)
		}
	})
}
