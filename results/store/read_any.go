package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/results"
)

// ReadAny reads a run folder, the folder of a step, or a result.json. A step
// becomes a run of one step; one that lies in a run folder has that run's
// environment.
func ReadAny(path string) (*results.Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readStepFile(path)
	}

	if _, err := os.Stat(filepath.Join(path, results.ManifestName)); err != nil {
		if inside := filepath.Join(path, results.ResultName); exists(inside) {
			return readStepFile(inside)
		}
	}

	return Read(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)

	return err == nil
}

// readStepFile makes a run of one step.
func readStepFile(path string) (*results.Run, error) {
	data, err := ReadPlain(path)
	if err != nil {
		return nil, err
	}

	var r results.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}

	switch {
	case r.Format > results.FormatVersion:
		return nil, fmt.Errorf("read %s: format version %d is newer than %d, the newest this bench knows; use a "+
			"newer bench",
			path, r.Format, results.FormatVersion)
	case r.Format < 1:
		return nil, errors.New("it has no format_version; give a run folder, or a result.json that bench wrote")
	}

	run := &results.Run{Dir: filepath.Dir(path), Finished: true, Manifest: results.Manifest{
		Bench: r.Bench, Scenario: r.Scenario, Run: r.Run, StartedAt: r.StartedAt, Simulated: r.Simulated,
		Method:   r.Method(),
		Variants: []string{r.Step.Variant}, Points: []string{r.Step.Point}, Planned: []results.StepRef{r.Step},
	}}
	run.Steps = []results.Step{{State: results.StepDone, Attempt: r.Step.Attempt, Result: &r}}

	folder := filepath.Dir(filepath.Dir(filepath.Dir(path))) // RUN/steps/STEP/result.json
	if whole, err := Read(folder); err == nil && whole.Step(r.Step.ID) != nil {
		run.Dir, run.Environment = folder, whole.Environment
	}

	return run, nil
}
