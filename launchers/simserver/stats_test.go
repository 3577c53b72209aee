package simserver

import (
	"testing"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// The line is that of engines before V1: totals, and an efficiency relative to
// the emission of all drafts and one more.
func TestSpecTotals(t *testing.T) {
	t.Parallel()
	got := specTotals(simengine.Gauges{Counters: simengine.Counters{
		Accepted: 197711, DraftTokens: 248165,
		Emitted: 190541,
	}}, 5)
	want := "Speculative metrics: Draft acceptance rate: 0.797, System efficiency: 0.640, Number of speculative " +
		"tokens: 5, " +
		"Number of accepted tokens: 197711, Number of draft tokens: 248165, Number of emitted tokens: 190541."
	if got != want {
		t.Errorf("specTotals = %q, want %q", got, want)
	}
}
