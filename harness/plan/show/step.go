package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// describeStep is a step in a line. The seed differs between repeats.
func describeStep(sc *scenarios.Scenario, step plan.Step, seed bool) string {
	switch {
	case sc.Program.Repetitions > 0:
		return fmt.Sprintf("repetitions of each test: %d", sc.Program.Repetitions)
	case sc.RunsProgram():
		return "the program runs to its end"
	case sc.Method == scenarios.ColdStart:
		return "a start, " + describeCaches(sc.Points[step.PointIndex].Caches)
	}

	line := describe(step.Asked, seed)
	if v, _ := sc.Variant(step.Variant); v.Extrapolate > 1 {
		line += fmt.Sprintf("; the share of one of %d replicas, extrapolated", v.Extrapolate)
	}
	if step.Decided != "" {
		line += "; " + step.Decided
	}
	return line
}

// mixture are the stages of a load and the kinds of request that it mixes, a phrase
// each.
func mixture(s *spec.Settings) []string {
	var parts []string
	for _, stage := range s.Stages {
		parts = append(parts, "stage "+stage.String())
	}

	for _, c := range s.Classes {
		text := fmt.Sprintf("class %s %.3g %% %s", c.Name, 100*c.Share, c.Dataset)
		if c.InputLen > 0 {
			text += fmt.Sprintf(" in %d", c.InputLen)
		}
		if c.OutputLen > 0 {
			text += fmt.Sprintf(" out %d", c.OutputLen)
		}
		if priority, ok := c.Body["priority"]; ok {
			text += fmt.Sprintf(" priority %v", priority)
		}

		parts = append(parts, text+adapterSplit(c.Adapters))
	}

	if s.Probes.Active() {
		parts = append(parts, "probes beside it "+s.Probes.String())
	}
	if split := adapterSplit(s.Adapters); split != "" {
		parts = append(parts, strings.TrimSpace(split))
	}

	return parts
}

// adapterSplit is " over LoRA adapters a 70 % and b 30 %"; "": none.
func adapterSplit(adapters []spec.Adapter) string {
	if len(adapters) == 0 {
		return ""
	}
	names := make([]string, len(adapters))
	for i, a := range adapters {
		names[i] = fmt.Sprintf("%s %.3g %%", a.Name, 100*a.Share)
	}
	return " over LoRA adapters " + strings.Join(names, " and ")
}

// describeCaches are the states of the caches that a start finds.
func describeCaches(c scenarios.StartCaches) string {
	var parts []string
	for _, cache := range []struct{ name, state string }{
		{"page cache", c.Page}, {"compile cache", c.Compile}, {"hub cache", c.Hub},
	} {
		if cache.state != scenarios.StartAny {
			parts = append(parts, cache.name+" "+cache.state)
		}
	}
	if parts == nil {
		return "caches as they are"
	}
	return strings.Join(parts, ", ")
}

// promptsOf says how many prompts a load has, and what its rate counts.
func promptsOf(a results.Asked) (prompts, rated string) {
	switch a.Dataset {
	case "sessions":
		return text.Count(a.NumPrompts, "recorded session"), "sessions/s"
	case "conversation":
		return text.Count(a.NumPrompts, "conversation"), "conversations/s"
	}
	return fmt.Sprintf("%d %s prompts", a.NumPrompts, a.Dataset), "requests/s"
}

// describe is a load point in a line.
func describe(a results.Asked, seed bool) string {
	prompts, rated := promptsOf(a)
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
		parts = append(parts, fmt.Sprintf("%g %s", *a.RequestRate, rated))
	}
	if r := a.Ramp; r != nil {
		parts = append(parts, fmt.Sprintf("%s ramp from %g to %g requests/s", r.Strategy, r.StartRPS, r.EndRPS))
	}
	if a.SendForS != nil {
		parts = append(parts, fmt.Sprintf("for %s", time.Duration(*a.SendForS*float64(time.Second))))
	}
	if s := a.Settings; s != nil {
		parts = append(parts, mixture(s)...)
	}
	if a.Compat != "" {
		parts = append(parts, "as "+a.Compat)
	}
	if early := a.EarlyText(); early != "" {
		parts = append(parts, early)
	}

	return strings.Join(append(parts, "POST "+a.Endpoint), ", ")
}
