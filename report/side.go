package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Side is one run of a comparison: a set of server lives.
type Side struct {
	Name string // as shown: short, and different for each side
	Path string // as given
	Run  *results.Run
}

// ReadSides reads runs to compare: run folders, folders of steps, or
// result.json files. A step out of a run folder knows that run's environment.
func ReadSides(paths []string) ([]Side, error) {
	var sides []Side
	for _, path := range paths {
		run, err := readSide(path)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", path, err)
		}
		sides = append(sides, Side{Name: text.Clean(filepath.Base(filepath.Clean(path))), Path: path, Run: run})
	}
	for i := range sides {
		if sides[i].Name == results.ResultName || twice(sides, i) {
			sides[i].Name = text.Clean(filepath.Clean(sides[i].Path))
		}
	}
	return sides, nil
}

func twice(sides []Side, at int) bool {
	for i, s := range sides {
		if i != at && filepath.Base(filepath.Clean(s.Path)) == filepath.Base(filepath.Clean(sides[at].Path)) {
			return true
		}
	}
	return false
}

func readSide(path string) (*results.Run, error) {
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
	return store.Read(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readStepFile makes a run of one step.
func readStepFile(path string) (*results.Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r results.Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	switch {
	case r.Format > results.FormatVersion:
		return nil, fmt.Errorf("read %s: format version %d is newer than %d, the newest this bench knows; use a newer bench", path, r.Format, results.FormatVersion)
	case r.Format < 1:
		return nil, errors.New("it has no format_version; give a run folder, or a result.json that bench wrote")
	}
	run := &results.Run{Dir: filepath.Dir(path), Finished: true, Manifest: results.Manifest{
		Bench: r.Bench, Scenario: r.Scenario, Run: r.Run, StartedAt: r.StartedAt, Simulated: r.Simulated, Method: methodOf(&r),
		Variants: []string{r.Step.Variant}, Points: []string{r.Step.Point}, Planned: []results.StepRef{r.Step},
	}}
	run.Steps = []results.Step{{State: results.StepDone, Attempt: r.Step.Attempt, Result: &r}}
	folder := filepath.Dir(filepath.Dir(filepath.Dir(path))) // RUN/steps/STEP/result.json
	if whole, err := store.Read(folder); err == nil && whole.Step(r.Step.ID) != nil {
		run.Dir, run.Environment = folder, whole.Environment
	}
	return run, nil
}
