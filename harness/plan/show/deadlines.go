package show

import (
	"fmt"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/scenarios"
)

// deadlines says which deadlines the estimates are beyond: what is late is cut
// or left out, so that its figures are missing.
func deadlines(sc *scenarios.Scenario, p *plan.Plan) []string {
	var lines []string
	least := time.Duration(p.LeastS * float64(time.Second))
	if limit := sc.RunDeadline; limit > 0 && least > limit {
		lines = append(lines, fmt.Sprintf("the run takes about %s, but deadlines.run is %s: the rest will be left "+
			"out; raise it, or send fewer prompts or repeats",
			least.Round(time.Minute), limit))
	}

	if limit := sc.StepDeadline; limit > 0 {
		var late []string
		seen := map[string]bool{}
		for _, life := range p.Lives {
			for _, step := range life.Steps {
				name := step.Variant + " " + step.Point
				if step.EstimateS > limit.Seconds() && !seen[name] {
					seen[name] = true
					late = append(late, fmt.Sprintf("%s (about %s)", name,
						time.Duration(step.EstimateS*float64(time.Second)).Round(time.Second)))
				}
			}
		}
		if len(late) > 0 {
			lines = append(lines, fmt.Sprintf("deadlines.step is %s, but these steps take longer: %s; raise "+
				"it, or send fewer prompts", limit, text.Few(late)))
		}
	}

	for _, l := range sc.Points {
		if l.Duration > 0 && sc.StepDeadline > 0 && l.Duration > sc.StepDeadline {
			lines = append(lines, fmt.Sprintf("point %s sends for %s, but deadlines.step is %s: "+
				"every step of it will be cut off", l.Label, l.Duration, sc.StepDeadline))
		}
	}

	return lines
}
