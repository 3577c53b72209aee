package grid

import (
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// One step proves nothing: in the table of steps none is best.
func TestNoStepIsBest(t *testing.T) {
	step := func(id string, rate float64) results.Step {
		figures := &results.Figures{Completed: 8, Asked: 8, OutputThroughput: &rate}
		ref := results.StepRef{ID: id, Variant: id, Point: "c1", Repeat: 1}
		r := &results.Result{Step: ref, Verdict: results.OK, Figures: figures}
		return results.Step{State: results.StepDone, Result: r}
	}
	run := &results.Run{Steps: []results.Step{step("a", 100), step("b", 200)}}
	best := func(t table.Table) (n int) {
		for _, r := range t.Rows {
			for _, c := range r.Cells {
				if c.Best {
					n++
				}
			}
		}
		return n
	}
	if got := best(LayOutRun(run)); got != 1 {
		t.Errorf("%d best cells in the comparison, want that of b", got)
	}
	if got := best(StepTable(run)); got != 0 {
		t.Errorf("%d best cells in the table of steps, want none", got)
	}
}

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
