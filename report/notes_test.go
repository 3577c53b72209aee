package report

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/results"
)

// TestScoresAreInTheReport: what an evaluation came to is shown without a look at the
// reports of steps.
func TestScoresAreInTheReport(t *testing.T) {
	run := &results.Run{}
	for _, r := range []*results.Result{
		{Step: results.StepRef{Variant: "f16"}, Evaluation: &results.Evaluation{Score: 0.9}},
		{
			Step: results.StepRef{Variant: "f16"}, Evaluation: &results.Evaluation{Score: 1},
			CommandScore: &results.CommandScore{Name: "gsm8k", Score: new(0.625)},
		},
		{Step: results.StepRef{Variant: "q4"}, CommandScore: &results.CommandScore{Name: "gsm8k", Score: new(0.5)}},
		{Step: results.StepRef{Variant: "q2"}, CommandScore: &results.CommandScore{Name: "gsm8k"}},
	} {
		run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: r})
	}

	want := []string{
		"Scores of f16: evaluation gsm8k 0.625 (1 step), questions with exact answers 0.95 (2 steps).",
		"Scores of q4: evaluation gsm8k 0.5 (1 step).",
	}
	if got := notes(run); !slices.Equal(got, want) {
		t.Errorf("notes = %q, want %q", got, want)
	}
}

// TestColdStartsOfOneVariant: the verdict holds the time of each state of the caches.
func TestColdStartsOfOneVariant(t *testing.T) {
	run := &results.Run{Manifest: results.Manifest{
		Method: results.MethodColdStart, Variants: []string{"v"}, Points: []string{"page-cold", "page-warm"},
	}}
	for i, point := range run.Manifest.Points {
		for repeat := range 2 {
			run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: &results.Result{
				Verdict: results.OK,
				Step:    results.StepRef{Variant: "v", Point: point, Repeat: repeat + 1},
				Measures: []results.Measure{{
					Name: "start_s", Title: "start, until healthy", Unit: "s", Value: new(4.0 - float64(i)),
				}},
			}})
		}
	}

	lines := StandingOf(run).Lines
	if len(lines) != 1 || lines[0] != "start, until healthy: 4.00 s for v at page-cold, 3.00 s for v at page-warm." {
		t.Errorf("verdict %q, want the time at each state", lines)
	}
}
