package plan

import (
	"encoding/json"
	"fmt"

	"github.com/benchrig/bench/results"
)

// Pin makes the plan run steps whatever others show: at the load that is asked
// for, by step id, in place of one that a search would decide. Steps that asked
// does not name stay as they are.
func (p *Plan) Pin(asked map[string]results.Asked) {
	for i := range p.Lives {
		for k := range p.Lives[i].Steps {
			step := &p.Lives[i].Steps[k]
			pinned, named := asked[step.ID]
			if !named {
				continue
			}

			step.Pinned, step.Decided = true, ""
			step.Asked.MaxConcurrency, step.Asked.RequestRate = pinned.MaxConcurrency, pinned.RequestRate
		}
	}
}

// PinsOf reads from the plan of a run, as its folder has it, the steps that are
// pinned and what they ask for.
func PinsOf(stored []byte) (map[string]results.Asked, error) {
	if len(stored) == 0 {
		return nil, nil
	}

	var p Plan
	if err := json.Unmarshal(stored, &p); err != nil {
		return nil, fmt.Errorf("read the run's plan: %w", err)
	}

	pins := map[string]results.Asked{}
	for _, life := range p.Lives {
		for _, step := range life.Steps {
			if step.Pinned {
				pins[step.ID] = step.Asked
			}
		}
	}

	return pins, nil
}
