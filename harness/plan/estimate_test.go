package plan

import (
	"math"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// What is simulated at ten times the speed takes a tenth of the time to answer;
// what the schedule decides takes as long as it says.
func TestSimulatedStepsAreEstimatedByTheirSpeed(t *testing.T) {
	t.Parallel()
	variant := func(launcher string, args ...scenarios.Arg) scenarios.Variant {
		return scenarios.Variant{Server: scenarios.Server{Launcher: launcher, Args: args}}
	}
	fast := scenarios.Arg{Name: "sim-speed", Value: 10.0}
	closed := scenarios.Load{NumPrompts: 100, OutputLen: 100}
	closed.MaxConcurrency, closed.RequestRate = 10, math.Inf(1)
	rated := scenarios.Load{NumPrompts: 100, OutputLen: 100}
	rated.RequestRate = 2

	for _, tt := range []struct {
		name string
		v    scenarios.Variant
		load scenarios.Load
		want float64
	}{
		{"an engine", variant("vllm", fast), closed, 25},
		{"a simulator", variant("simulator"), closed, 25},
		{"a fast simulator", variant("simulator", fast), closed, 2.5},
		{"a fast simulator at a rate", variant("simulator", fast), rated, 50.25},
	} {
		if got := stepEstimate(tt.load, speedOf(tt.v)); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %g s, want %g", tt.name, got, tt.want)
		}
	}
}
