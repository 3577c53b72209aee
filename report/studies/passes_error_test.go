package studies

import (
	"fmt"
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// The error of a difference of two passes is that of both: one below the error
// is not a detectable difference.
func TestErrorOfTheDifference(t *testing.T) {
	for _, tt := range []struct {
		name         string
		whole, first []float64
		want         string
	}{
		{"one repeat", []float64{500}, []float64{100}, "400.00"},
		{"steady repeats", []float64{500, 501, 499}, []float64{100, 100, 100}, "400.00 ± 2.48"},
		{"both spread", []float64{500, 501, 499}, []float64{100, 101, 99}, "400.00 ± 2.27"},
		{"no spread", []float64{500, 500}, []float64{100, 100}, "400.00 ± 0.00"},
		{"within the error", []float64{100, 104, 96}, []float64{99, 103, 95}, tooSmall},
	} {
		var c compare.Cell
		for i := range tt.whole {
			r := &results.Result{
				Verdict: results.OK, Step: results.StepRef{Repeat: i + 1},
				Servers: []results.Server{{Life: fmt.Sprint("life", i)}},
				SQZB:    &results.SQZB{E2ELatencyS: &tt.whole[i], SummarizationLatencyS: &tt.first[i]},
			}
			c.Steps, c.Counted = append(c.Steps, r), append(c.Counted, r)
		}
		mean := 400.0
		got := withError(c, "400.00", mean, func(v float64) string { return fmt.Sprintf("%.2f", v) })
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
