package grid

import (
	"testing"

	"github.com/benchrig/bench/results"
)

// A run without requests has a table only where a verdict is to be seen.
func TestNoTableWithoutRequests(t *testing.T) {
	step := func(id string, verdict results.Verdict, measures ...results.Measure) results.Step {
		ref := results.StepRef{ID: id, Variant: id, Point: "all", Repeat: 1}
		r := &results.Result{Step: ref, Verdict: verdict, Measures: measures}
		return results.Step{State: results.StepDone, Result: r}
	}
	measure := results.Measure{Name: "start_s", Value: new(1.5)}
	run := &results.Run{Steps: []results.Step{step("a", results.OK, measure), step("b", results.OK, measure)}}
	if got := LayOutRun(run); len(got.Rows) != 0 {
		t.Errorf("valid steps without requests are laid out: %+v", got)
	}

	run.Steps[1] = step("b", results.Failed)
	got := LayOutRun(run)
	if len(got.Rows) != 2 || len(got.Columns) != 3 || len(got.Rows[1].Cells) != 3 {
		t.Errorf("a failed step is laid out as %+v, want its variant, point and verdict", got)
	}
}
