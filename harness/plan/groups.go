package plan

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/results"
)

// Groups splits the plan for jobs that may run at the same time on different
// machines: one job for the lives of a variant and repeat, or of a variant if
// its repeats must share a machine. A life is never split.
func (p *Plan) Groups(wholeVariants bool) []results.Group {
	type key struct {
		variant string
		repeat  int
	}

	var groups []results.Group
	at := map[key]int{}
	for _, life := range p.Lives {
		k := key{variant: life.Variant}
		if !wholeVariants {
			k.repeat = life.Steps[0].Repeat
		}
		i, known := at[k]
		if !known {
			i, at[k] = len(groups), len(groups)
			groups = append(groups, results.Group{ID: fmt.Sprintf("g%03d", i+1)})
		}
		groups[i].Nodes = max(groups[i].Nodes, life.Nodes)
		groups[i].Lives = append(groups[i].Lives, life.ID)
		for _, step := range life.Steps {
			groups[i].Steps = append(groups[i].Steps, step.ID)
		}
	}

	return groups
}

// Of is the part of the plan that is a group's. The error says that the group
// was made of another plan.
func (p *Plan) Of(group results.Group) (*Plan, error) {
	part := p.part(func(life Life, _ Step) bool { return slices.Contains(group.Lives, life.ID) })
	var steps []string
	for _, ref := range part.Refs() {
		steps = append(steps, ref.ID)
	}
	if len(part.Lives) != len(group.Lives) || !slices.Equal(steps, group.Steps) {
		return nil, fmt.Errorf("the plan made on this machine has other server starts or steps than group %s "+
			"of the run", group.ID)
	}
	return part, nil
}
