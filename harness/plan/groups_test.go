package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// planned is a plan of two variants, two points and two repeats whose servers
// live for a repeat.
func planned() *plan.Plan {
	p := &plan.Plan{}
	for _, life := range []struct {
		id, variant string
		repeat      int
	}{{"01-a", "a", 1}, {"02-b", "b", 1}, {"03-a", "a", 2}, {"04-b", "b", 2}} {
		l := plan.Life{ID: life.id, Variant: life.variant, EstimateS: 10}
		for _, point := range []string{"c1", "c2"} {
			ref := results.StepRef{ID: life.id + "_" + point, Variant: life.variant, Point: point, Repeat: life.repeat}
			l.Steps = append(l.Steps, plan.Step{StepRef: ref, EstimateS: 1})
		}
		p.Lives = append(p.Lives, l)
	}
	return p
}

func TestGroups(t *testing.T) {
	group := func(id string, lives ...string) results.Group {
		g := results.Group{ID: id, Lives: lives}
		for _, life := range lives {
			g.Steps = append(g.Steps, life+"_c1", life+"_c2")
		}
		return g
	}
	spread := []results.Group{
		group("g001", "01-a"), group("g002", "02-b"), group("g003", "03-a"),
		group("g004", "04-b"),
	}
	if diff := cmp.Diff(spread, planned().Groups(false)); diff != "" {
		t.Errorf("Groups(false) differs (-want +got):\n%s", diff)
	}
	same := []results.Group{group("g001", "01-a", "03-a"), group("g002", "02-b", "04-b")}
	if diff := cmp.Diff(same, planned().Groups(true)); diff != "" {
		t.Errorf("Groups(true) differs (-want +got):\n%s", diff)
	}
	part, err := planned().Of(same[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(part.Lives) != 2 || part.Lives[1].ID != "04-b" || part.EstimateS != 24 {
		t.Errorf("Of(b) = lives %v, %g s, want 02-b and 04-b, 24 s", part.Lives, part.EstimateS)
	}
	for _, wrong := range []results.Group{group("g001", "09-a"), {
		ID: "g001", Lives: []string{"01-a"},
		Steps: []string{"01-a_c1"},
	}} {
		if _, err := planned().Of(wrong); err == nil || !strings.Contains(err.Error(), "other server starts or steps") {
			t.Errorf("Of(%v) = %v, want a refusal", wrong, err)
		}
	}
}
