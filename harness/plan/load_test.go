package plan

import (
	"math"
	"testing"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
)

func TestShareOf(t *testing.T) {
	tests := []struct {
		name              string
		n, concurrency    int
		rate              float64
		wantC             int
		wantRate, rampEnd float64
	}{
		{"none", 0, 128, math.Inf(1), 128, math.Inf(1), 8},
		{"one", 1, 128, 8, 128, 8, 8},
		{"a quarter", 4, 128, 8, 32, 2, 2},
		{"at least one", 4, 3, math.Inf(1), 1, math.Inf(1), 2},
		{"rounded down", 4, 10, math.Inf(1), 2, math.Inf(1), 2},
		{"no cap stays none", 4, 0, math.Inf(1), 0, math.Inf(1), 2},
	}
	for _, tt := range tests {
		l := ShareOf(scenarios.Variant{Extrapolate: tt.n}, scenarios.Load{Settings: spec.Settings{MaxConcurrency: tt.concurrency}, RequestRate: tt.rate, Ramp: spec.Ramp{Start: 4, End: 8}, NumPrompts: 1024})
		if l.MaxConcurrency != tt.wantC || l.RequestRate != tt.wantRate || l.Ramp.End != tt.rampEnd || l.NumPrompts != 1024 {
			t.Errorf("%s: concurrency %d, rate %g, ramp to %g, %d prompts; want %d, %g, %g and all", tt.name, l.MaxConcurrency, l.RequestRate, l.Ramp.End, l.NumPrompts, tt.wantC, tt.wantRate, tt.rampEnd)
		}
	}
}
