package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Run is a run folder read back: everything that reports are made of.
type Run struct {
	Dir         string
	Manifest    Manifest
	Environment json.RawMessage // null where the run had none written
	Plan        json.RawMessage
	Events      []Event
	Steps       []Step   // every planned step that was needed, in the order of the plan
	Spared      []Step   // planned steps that turned out not to be needed: nothing is missing
	Finished    bool     // the journal ends the run; false: it was killed, or goes on
	Problems    []string // damage that was read around, in words
	Parts       []Part   // of a run that jobs carry out: what each has left, its events among Events
}

// StepState says how far a step came.
type StepState string

// The states of a step on disk.
const (
	StepDone        StepState = "done"        // it has a verdict
	StepInterrupted StepState = "interrupted" // started, and the journal ends before its verdict
	StepPending     StepState = "pending"     // never started
)

// Step is one planned step and what is known of it. Result is never nil: where
// there is no result.json it carries the verdict that the journal gives, and
// no figures.
type Step struct {
	State   StepState
	Records int // requests on disk of an interrupted step
	Attempt int // the last that the journal tells of; 0: none
	Open    int // the attempt that has a beginning and neither an end nor a result; 0: none
	Result  *Result
}

// Read reads the run folder dir. Runs that were killed read like others;
// folders of a newer format, and folders that are no runs, are errors.
func Read(dir string) (*Run, error) {
	folder, err := Open(dir)
	if err != nil {
		return nil, err
	}
	run := &Run{Dir: dir}
	if err := readVersioned(folder.Manifest(), &run.Manifest); err != nil {
		return nil, err
	}
	if run.Environment, err = readRaw(folder.Environment()); err != nil {
		return nil, err
	}
	if run.Plan, err = readRaw(folder.Plan()); err != nil {
		return nil, err
	}
	err = errors.Join(
		run.noteChange(ScenarioName, folder.Scenario(), run.Manifest.ScenarioSHA256),
		run.noteChange(PlanName, folder.Plan(), run.Manifest.PlanSHA256),
		run.readJournals(folder.Journal()),
	)
	if err != nil {
		return nil, err
	}
	histories := historiesOf(run.Events)
	for _, ref := range run.Manifest.Planned {
		step, err := run.readStep(folder, ref, histories[ref.ID])
		if err != nil {
			return nil, err
		}
		run.Steps = append(run.Steps, step)
	}
	run.setAsideSpared()
	run.nameSearched()
	return run, nil
}

// Step finds a step by its id; nil if the run has none of that name.
func (r *Run) Step(id string) *Step {
	for _, steps := range [][]Step{r.Steps, r.Spared} {
		for i := range steps {
			if steps[i].Result.Step.ID == id {
				return &steps[i]
			}
		}
	}
	return nil
}

// readVersioned decodes a JSON file after a look at its format version.
func readVersioned(path string, into any) error {
	data, err := os.ReadFile(path)
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
	case version.Format > FormatVersion:
		return fmt.Errorf("read %s: format version %d is newer than %d, the newest this bench knows; use a newer bench",
			path, version.Format, FormatVersion)
	case version.Format < 1:
		return fmt.Errorf("read %s: it has no format_version; it was not written by bench", path)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// readRaw reads a JSON file of the run; nil where there is none.
func readRaw(path string) (json.RawMessage, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run folder: %w", err)
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("read %s: not JSON", path)
	}
	return data, nil
}

// readJournals reads the run's own journal and those of its jobs.
func (r *Run) readJournals(own string) error {
	var err error
	if r.Events, r.Finished, err = r.readJournal(own, JournalName); err != nil {
		return err
	}
	return r.readParts()
}

// readJournal reads the events of one journal, and whether it ends a run.
func (r *Run) readJournal(path, name string) (events []Event, finished bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Problems = append(r.Problems, name+": missing")
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read run folder: %w", err)
	}
	defer func() { _ = f.Close() }()
	for line, err := range ReadJournal(f) {
		if err != nil {
			return nil, false, err
		}
		if line.Bad != "" {
			r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: %s", name, line.Number, line.Bad))
			continue
		}
		if last := lastSeq(events); line.Event.Seq != last+1 { // some were lost
			r.Problems = append(r.Problems, fmt.Sprintf("%s:%d: event %d follows event %d", name, line.Number, line.Event.Seq, last))
		}
		events = append(events, line.Event)
		switch line.Event.Kind {
		case RunStarted, RunResumed:
			finished = false
		case RunFinished:
			finished = true
		default: // says nothing of the run as a whole
		}
	}
	return events, finished, nil
}

// lastSeq is the number of the last event; 0: there is none.
func lastSeq(events []Event) int {
	if len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// readStep joins a planned step with its result, or with what the journal says.
func (r *Run) readStep(folder *Folder, ref StepRef, h history) (Step, error) {
	path := filepath.Join(folder.StepDir(ref.ID), ResultName)
	result := &Result{}
	err := readVersioned(path, result)
	switch {
	case err == nil && h.refused():
		return r.refused(ref, h, result), nil
	case err == nil:
		if h.started && !h.finished && h.attempt > result.Step.Attempt {
			r.Problems = append(r.Problems, fmt.Sprintf("step %s: attempt %d has no end; its result is that of attempt %d",
				ref.ID, h.attempt, result.Step.Attempt))
		}
		step := Step{State: StepDone, Attempt: max(h.attempt, result.Step.Attempt), Result: result}
		if h.started && !h.finished && h.attempt > result.Step.Attempt {
			step.Open = h.attempt
		}
		return step, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Step{}, err
	}
	return r.withoutResult(folder.StepDir(ref.ID), ref, h), nil
}
