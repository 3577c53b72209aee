package compare

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
)

func step(variant, point, life string, verdict results.Verdict, rate float64) *results.Result {
	r := &results.Result{
		Step:    results.StepRef{ID: variant + point + life + numtest.Format(rate), Variant: variant, Point: point},
		Verdict: verdict, Figures: &results.Figures{RequestThroughput: &rate},
	}
	if life != "" {
		r.Servers = []results.Server{{Life: life}}
	}
	if verdict == results.Failed {
		r.Figures = nil
	}
	return r
}

func requestRate(f *results.Figures) *float64 { return f.RequestThroughput }

func TestCells(t *testing.T) {
	ok, suspect, failed := results.OK, results.Suspect, results.Failed
	steps := []*results.Result{
		step("b", "c8", "b1", ok, 4), step("a", "c1", "a1", ok, 1), step("a", "c1", "a1", ok, 3),
		step("a", "c1", "a2", ok, 8),
		step("a", "c8", "a1", ok, 5), step("a", "c8", "a2", suspect, 500), step("b", "c1", "", suspect, 7),
		step("c", "c1", "", failed, 0), step("late", "c1", "", ok, 1), step("late", "c1", "", ok, 2),
	}
	var got []string
	for _, c := range Cells(steps, []string{"a", "b", "c"}, []string{"c1", "c8", "unused"}) {
		mean := "-"
		if m := c.Mean(requestRate); m != nil {
			mean = fmt.Sprint(*m)
		}
		got = append(got, fmt.Sprintf("%s %s: %d/%d in %d lives, mean %s, sound %v", c.Point, c.Variant, len(c.Counted),
			len(c.Steps), c.Lives(), mean, c.Valid()))
	}
	want := []string{
		"c1 a: 3/3 in 2 lives, mean 5, sound true", // (mean(1, 3) + 8) / 2
		"c1 b: 1/1 in 1 lives, mean 7, sound false",
		"c1 c: 0/1 in 0 lives, mean -, sound false",
		"c1 late: 2/2 in 2 lives, mean 1.5, sound true",
		"c8 a: 1/2 in 1 lives, mean 5, sound false",
		"c8 b: 1/1 in 1 lives, mean 4, sound true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Cells (-want +got):\n%s", diff)
	}
}

func TestCellMeanIsNullWhereAStepDoesNotKnow(t *testing.T) {
	steps := []*results.Result{step("a", "c1", "1", results.OK, 1), step("a", "c1", "2", results.OK, 1)}
	steps[1].Figures.RequestThroughput = nil
	if got := Cells(steps, nil, nil)[0].Mean(requestRate); got != nil {
		t.Errorf("Mean = %v, want null", *got)
	}
}
