package plan

import (
	"fmt"
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
		l := ShareOf(scenarios.Variant{Extrapolate: tt.n},
			scenarios.Load{
				Settings: spec.Settings{MaxConcurrency: tt.concurrency}, RequestRate: tt.rate,
				Ramp: spec.Ramp{Start: 4, End: 8}, NumPrompts: 1024,
			})
		if l.MaxConcurrency != tt.wantC || l.RequestRate != tt.wantRate || l.Ramp.End != tt.rampEnd ||
			l.NumPrompts != 1024 {
			t.Errorf("%s: concurrency %d, rate %g, ramp to %g, %d prompts; want %d, %g, %g and all", tt.name,
				l.MaxConcurrency, l.RequestRate, l.Ramp.End, l.NumPrompts, tt.wantC, tt.wantRate, tt.rampEnd)
		}
	}
}

// Prompts differ where a prefix cache could know them, and only there.
func TestStepSeeds(t *testing.T) {
	t.Parallel()
	of := func(restart scenarios.Restart, compat string, vary bool) string {
		sc := &scenarios.Scenario{Restart: restart}
		for range 2 {
			l := scenarios.Load{Dataset: scenarios.Dataset{Seed: 7, Vary: vary}}
			l.Compat = compat
			sc.Points = append(sc.Points, l)
		}
		var seeds []uint64
		for repeat := 1; repeat <= 2; repeat++ {
			for point := range 2 {
				seeds = append(seeds, stepSeed(sc, cell{point: point, repeat: repeat}))
			}
		}
		return fmt.Sprint(seeds)
	}
	for _, c := range []struct {
		restart scenarios.Restart
		compat  string
		vary    bool
		want    string
	}{
		{scenarios.RestartVariant, "", true, "[7 8 9 10]"},
		{scenarios.RestartNever, "", true, "[7 8 9 10]"},
		{scenarios.RestartPoint, "", true, "[7 7 8 8]"},
		{scenarios.RestartStep, "", true, "[7 7 8 8]"},
		{scenarios.RestartVariant, "vllm", true, "[7 7 7 7]"},
		{scenarios.RestartVariant, "", false, "[7 7 7 7]"},
	} {
		if got := of(c.restart, c.compat, c.vary); got != c.want {
			t.Errorf("restart %s, compat %q, vary %v: seeds %s, want %s", c.restart, c.compat, c.vary, got, c.want)
		}
	}
}
