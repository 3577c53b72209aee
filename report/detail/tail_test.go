package detail

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// Where 99 is not among the percentiles, the tail is the highest that is.
func TestTailOfReadingsAndTurns(t *testing.T) {
	d := results.Dist{N: 9, Median: new(0.1), Percentiles: []results.PercentileFigure{{P: 50, Value: new(0.1)}, {
		P: 90, Value: new(0.25),
	}}}
	var names []string
	for _, b := range besidesOf(&results.Figures{E2EL: d}) {
		names = append(names, b.name)
	}
	if text := strings.Join(names, ","); !strings.Contains(text, "p90 TTFT (ms)") || strings.Contains(text, "p99") {
		t.Errorf("figures %s, want p90 in the place of p99", text)
	}
	if got := turnLine(results.TurnFigures{From: 2, To: 2, N: 9, TTFT: d}); !strings.Contains(got, "p90 250.00 ms") {
		t.Errorf("turn %q, want its p90", got)
	}
}
