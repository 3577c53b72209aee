package export

import "github.com/benchrig/bench/results"

// Run is a run as JSON.
type Run struct {
	Folder   string           `json:"folder"`
	Manifest results.Manifest `json:"manifest"`
	Finished bool             `json:"finished"`
	Steps    []Step           `json:"steps"`
	Problems []string         `json:"problems"`
}

// Step is a step as JSON.
type Step struct {
	State  results.StepState `json:"state"`
	Result *results.Result   `json:"result"`
}

// JSON is a run as it is printed as JSON.
func JSON(run *results.Run) Run {
	v := Run{
		Folder: run.Dir, Manifest: run.Manifest, Finished: run.Finished,
		Steps: []Step{}, Problems: append([]string{}, run.Problems...),
	}
	for i := range run.Steps {
		v.Steps = append(v.Steps, Step{run.Steps[i].State, run.Steps[i].Result})
	}
	return v
}
