package show

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// describeStep is a step in a line. The seed differs between repeats.
func describeStep(sc *scenarios.Scenario, step plan.Step, seed bool) string {
	if sc.Method == scenarios.LlamaBench {
		return fmt.Sprintf("repetitions of each test: %d", sc.LlamaBench.Repetitions)
	}

	line := describe(step.Asked, seed)
	i := slices.IndexFunc(sc.Variants, func(v scenarios.Variant) bool { return v.Name == step.Variant })
	if n := sc.Variants[i].Extrapolate; n > 1 {
		line += fmt.Sprintf("; the share of one of %d replicas, extrapolated", n)
	}
	if step.Decided != "" {
		line += "; " + step.Decided
	}
	return line
}

// describe is a load point in a line.
func describe(a results.Asked, seed bool) string {
	prompts := fmt.Sprintf("%d %s prompts", a.NumPrompts, a.Dataset)
	if seed {
		prompts += fmt.Sprintf(" (seed %d)", a.Seed)
	}

	parts := []string{prompts}
	if a.InputLen != nil {
		parts = append(parts, fmt.Sprintf("in %d", *a.InputLen))
	}
	if a.OutputLen != nil {
		parts = append(parts, fmt.Sprintf("out %d", *a.OutputLen))
	}
	if a.MaxConcurrency != nil {
		parts = append(parts, fmt.Sprintf("concurrency %d", *a.MaxConcurrency))
	}
	if a.RequestRate != nil {
		parts = append(parts, fmt.Sprintf("%g requests/s", *a.RequestRate))
	}
	if r := a.Ramp; r != nil {
		parts = append(parts, fmt.Sprintf("%s ramp from %g to %g requests/s", r.Strategy, r.StartRPS, r.EndRPS))
	}
	if a.SendForS != nil {
		parts = append(parts, fmt.Sprintf("for %s", time.Duration(*a.SendForS*float64(time.Second))))
	}
	if a.Compat != "" {
		parts = append(parts, "as "+a.Compat)
	}
	if early := a.EarlyText(); early != "" {
		parts = append(parts, early)
	}

	return strings.Join(append(parts, "POST "+a.Endpoint), ", ")
}
