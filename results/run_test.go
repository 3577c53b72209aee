package results

import (
	"math"
	"testing"
)

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

// TestMostLines: what a result claims does not decide alone how much is read of a step.
func TestMostLines(t *testing.T) {
	claims := func(n int, s float64) *Result {
		return &Result{
			Figures: &Figures{Asked: n}, Client: &ClientReport{DurationS: s}, Telemetry: &Telemetry{},
			Parts: []PartFigures{{By: ByProbe, Name: "probes", Figures: Figures{Asked: n}}},
		}
	}
	for _, tt := range []struct {
		n                 int
		s                 float64
		records, readings int
	}{
		{100, 60, 1400, 180 * 64 * 20},
		{math.MaxInt, 1e300, mostRecords, mostReadings},
		{3_000_000_000, 1e9, mostRecords, mostReadings},
		{0, -1e300, 1000, 60 * 64 * 20},
	} {
		r := claims(tt.n, tt.s)
		if r.MostRecords() != tt.records || r.MostReadings() != tt.readings {
			t.Errorf("%d requests in %g s: at most %d records and %d readings, want %d and %d", tt.n, tt.s,
				r.MostRecords(), r.MostReadings(), tt.records, tt.readings)
		}
	}
}
