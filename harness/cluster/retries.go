package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Retries are failed steps that jobs run again: the last attempt of each when
// the jobs were submitted. A step that fails once more stays failed, however
// often its job is queued again.
type Retries map[string]int

// retriesOf lists the failed steps of a run.
func retriesOf(run *results.Run) Retries {
	r := Retries{}
	for _, step := range run.Steps {
		if step.Result.Verdict == results.Failed {
			r[step.Result.Step.ID] = step.Attempt
		}
	}
	return r
}

// retry reports whether a failed step is run again.
func (r Retries) retry(failed *results.Result) bool {
	last, listed := r[failed.Step.ID]
	return listed && failed.Step.Attempt <= last
}

// Resume is what a run continues with if these steps are run again.
func (r Retries) Resume(run *results.Run) *harness.Resume { return harness.NewResumeOf(run, r.retry) }

// write puts the list into a new file of a run's folder, whose path there it
// returns; "" for an empty list.
func (r Retries) write(folder *store.Folder) (string, error) {
	if len(r) == 0 {
		return "", nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("list failed steps: %w", err)
	}

	for n := 1; ; n++ {
		name := fmt.Sprintf("%s/retry-%d.json", results.JobsName, n)
		if _, err := os.Lstat(filepath.Join(folder.Dir(), name)); err != nil {
			return name, folder.WriteFile(name, text)
		}
	}
}

// readRetries reads the list at a path in a run's folder; none for "".
func readRetries(folder *store.Folder, name string) (Retries, error) {
	if name == "" {
		return nil, nil
	}
	text, err := store.ReadPlain(filepath.Join(folder.Dir(), filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read the steps to run again: %w", err)
	}
	var r Retries
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, usage.Errorf("%s: expected a list of steps and attempts: %w", name, err)
	}
	return r, nil
}
