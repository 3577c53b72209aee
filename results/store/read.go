package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchrig/bench/results"
)

// Read reads the run folder dir. Runs that were killed read like others;
// folders of a newer format, and folders that are not runs, are errors.
func Read(dir string) (*results.Run, error) {
	return readRun(dir, func(*results.Manifest) error { return nil })
}

// ReadGroup is Read of the one group that pick chooses: its steps, and what its jobs
// have left. However large the run, a job reads no more than what concerns it.
func ReadGroup(dir string, pick func(*results.Manifest) (results.Group, error)) (*results.Run, error) {
	return readRun(dir, func(m *results.Manifest) error {
		group, err := pick(m)
		if err != nil {
			return err
		}
		m.Groups = []results.Group{group}
		m.Planned = slices.DeleteFunc(m.Planned, func(ref results.StepRef) bool {
			return !slices.Contains(group.Steps, ref.ID)
		})
		return nil
	})
}

// readRun reads a run folder after narrow has left in the manifest what is wanted.
func readRun(dir string, narrow func(*results.Manifest) error) (*results.Run, error) {
	folder, err := Open(dir)
	if err != nil {
		return nil, err
	}

	run := &results.Run{Dir: dir}
	if err := readManifest(run, folder); err != nil {
		return nil, err
	}
	if err := narrow(&run.Manifest); err != nil {
		return nil, err
	}
	readOptional(run, folder.Scenario(), results.ScenarioName, run.Manifest.ScenarioSHA256)
	run.Environment = readJSON(run, folder.Environment(), results.EnvironmentName, "")
	run.Plan = readJSON(run, folder.Plan(), results.PlanName, run.Manifest.PlanSHA256)
	if err := readJournals(run, folder.Journal()); err != nil {
		return nil, err
	}

	histories := historiesOf(run.Events)
	for _, ref := range run.Manifest.Planned {
		step, err := readStep(run, folder, ref, histories[ref.ID])
		if err != nil {
			return nil, err
		}
		run.Steps = append(run.Steps, step)
	}

	setAsideNotNeeded(run)
	nameSearched(run)
	return run, nil
}

// errNewer says that a file has a format that this bench does not know.
var errNewer = errors.New("a newer bench wrote it")

// readVersioned decodes a JSON file after a look at its format version.
func readVersioned(path string, into any) error {
	data, err := ReadPlain(path)
	if err != nil {
		return fmt.Errorf("read run folder: %w", err)
	}

	var version struct {
		Format int `json:"format_version"`
	}

	if err := json.Unmarshal(data, &version); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}

	switch {
	case version.Format > results.FormatVersion:
		return fmt.Errorf("read %s: %w: format version %d is newer than %d, the newest this bench knows; "+
			"use a newer bench",
			path, errNewer, version.Format, results.FormatVersion)
	case version.Format < 1:
		return fmt.Errorf("read %s: it has no format_version; it was not written by bench", path)
	}

	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}

	return nil
}

// readOptional reads a file that a report can do without; nil: there is none, or it
// cannot be read. What is wrong with it is a problem of the run, as is a hash that is
// not that of the run's start ("": not known).
func readOptional(run *results.Run, path, name, sha256 string) []byte {
	data, err := ReadPlain(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && sha256 != "":
		run.Problems = append(run.Problems, name+": missing")
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		run.Problems = append(run.Problems, fmt.Sprintf("%s: %v", name, err))
	case sha256 != "" && hashOf(data) != sha256:
		run.Problems = append(run.Problems, name+": changed since the run started")
	}
	return data
}

// readJSON is readOptional of a JSON file; nil for anything else.
func readJSON(run *results.Run, path, name, sha256 string) json.RawMessage {
	data := readOptional(run, path, name, sha256)
	if data != nil && !json.Valid(data) {
		run.Problems = append(run.Problems, fmt.Sprintf("%s: read %s: not JSON", name, path))
		return nil
	}
	return data
}

// damagedStep describes a step whose result cannot be read: it counts as not
// measured, and a resume runs it again.
func damagedStep(r *results.Run, dir string, ref results.StepRef, h history, err error) results.Step {
	r.Problems = append(r.Problems, fmt.Sprintf("step %s: %v; it counts as not measured", ref.ID, err))
	step := withoutResult(r, dir, ref, history{started: true, attempt: max(h.attempt, 1)})
	step.Result.Failure = results.Failf(results.FailDisk, "its %s cannot be read; bench resume runs the step again",
		results.ResultName)
	return step
}

// readJournals reads the run's own journal and those of its jobs.
func readJournals(r *results.Run, own string) error {
	var err error
	if r.Events, r.Finished, err = readJournal(r, own, results.JournalName); err != nil {
		return err
	}
	return readParts(r)
}

// readJournal reads the events of one journal, and whether it ends a run.
func readJournal(r *results.Run, path, name string) (events []results.Event, finished bool, err error) {
	f, err := OpenPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Problems = append(r.Problems, name+": missing")
		return nil, false, nil
	}
	if err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", name, err))
		return nil, false, nil
	}
	defer func() { _ = f.Close() }()

	for line, err := range ReadJournal(f) {
		if err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", name, err))
			break
		}
		if line.Bad != "" {
			r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: %s", name, line.Number, line.Bad))
			continue
		}
		if last := lastSeq(events); line.Event.Seq != last+1 { // some were lost
			r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: event %d follows event %d", name, line.Number,
				line.Event.Seq, last))
		}
		events = append(events, line.Event)
		switch line.Event.Kind {
		case results.RunStarted, results.RunResumed:
			finished = false
		case results.RunFinished:
			finished = true
		default: // says nothing of the run as a whole
		}
	}

	return events, finished, nil
}

// lastSeq is the number of the last event; 0: there is none.
func lastSeq(events []results.Event) int {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// readStep joins a planned step with its result, or with what the journal says.
func readStep(r *results.Run, folder *Folder, ref results.StepRef, h history) (results.Step, error) {
	path := filepath.Join(folder.StepDir(ref.ID), results.ResultName)
	result := &results.Result{}
	err := readVersioned(path, result)
	if err == nil {
		for _, name := range damagedFiles(folder.StepDir(ref.ID)) {
			r.Problems = append(r.Problems, fmt.Sprintf("step %s: %s is damaged: it does not begin as a "+
				"compressed file", ref.ID, filepath.Base(name)))
		}
	}

	switch {
	case err == nil && h.refused():
		return refusedStep(r, ref, h, result), nil
	case err == nil && h.notNeeded():
		return withoutResult(r, folder.StepDir(ref.ID), ref, h), nil
	case err == nil:
		step := results.Step{
			State: results.StepDone, Attempt: max(h.attempt, result.Step.Attempt), Retry: h.retry,
			Result: result,
		}
		if h.started && !h.finished && h.attempt > result.Step.Attempt {
			step.Open = h.attempt
			r.Problems = append(r.Problems, fmt.Sprintf("step %s: attempt %d has no end; its result is that of "+
				"attempt %d", ref.ID, h.attempt, result.Step.Attempt))
		}
		return step, nil
	case errors.Is(err, errNewer):
		return results.Step{}, err
	case !errors.Is(err, fs.ErrNotExist):
		return damagedStep(r, folder.StepDir(ref.ID), ref, h, err), nil
	}

	return withoutResult(r, folder.StepDir(ref.ID), ref, h), nil
}

// ReadAny reads a run folder, the folder of a step, or a result.json. A step
// becomes a run of one step; one that is in a run folder has that run's
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
