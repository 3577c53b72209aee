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
		want := "repeats from 2 on are left out: with them the rest would take about 40m0s, and 10m0s are left of the run's deadline of 50m0s"
		if got := run.Steps[7].Result.Failure; got == nil || got.Message != want {
			t.Errorf("failure = %v, want %s", got, want)
		}
		if outcome.NotRun != 4 || outcome.Ended != nil {
			t.Errorf("outcome = %+v, want 4 steps not run and a run that came to its end", outcome)
		}
	})
}
