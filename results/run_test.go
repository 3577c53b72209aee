package results

import "testing"

// TestRoundsOver: a round whose last step ended with the run is not over, since a
// resume repeats that step.
func TestRoundsOver(t *testing.T) {
	step := func(repeat int, verdict Verdict, class FailureClass) Step {
		r := &Result{Verdict: verdict, Step: StepRef{Repeat: repeat}}
		if class != "" {
			r.Failure = Failf(class, "why")
		}
		return Step{State: StepDone, Result: r}
	}

	for _, tt := range []struct {
		name string
		last Step
		want int
	}{
		{"measured", step(1, OK, ""), 1},
		{"its server failed", step(1, Failed, FailOutOfMemory), 1},
		{"interrupted", step(1, Failed, FailInterrupted), 0},
		{"disk full", step(1, Failed, FailDisk), 0},
	} {
		run := &Run{Steps: []Step{step(1, OK, ""), tt.last, step(2, NotRun, FailInterrupted)}}
		if got := run.RoundsOver(); got != tt.want {
			t.Errorf("%s: %d rounds are over, want %d", tt.name, got, tt.want)
		}
	}
}
