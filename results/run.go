package results

import (
	"encoding/json"
	"slices"
)

// Run is a run folder read back: everything that reports are made of.
type Run struct {
	Dir         string
	Manifest    Manifest
	Environment json.RawMessage // null where the run had none written
	Plan        json.RawMessage
	Events      []Event
	Steps       []Step   // every planned step that was needed, in the order of the plan
	NotNeeded   []Step   // planned steps that turned out not to be needed: nothing is missing
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
	Records int  // requests on disk of an interrupted step
	Attempt int  // the last in the journal; 0: none
	Open    int  // the attempt that has a beginning and neither an end nor a result; 0: none
	Retry   bool // another attempt was to follow the last one, and did not begin
	Result  *Result
}

// Step finds a step by its id; nil if the run has none of that name.
func (r *Run) Step(id string) *Step {
	for _, steps := range [][]Step{r.Steps, r.NotNeeded} {
		for i := range steps {
			if steps[i].Result.Step.ID == id {
				return &steps[i]
			}
		}
	}
	return nil
}

// Results are those of the steps, in the order of the plan.
func (r *Run) Results() []*Result {
	all := make([]*Result, len(r.Steps))
	for i, s := range r.Steps {
		all[i] = s.Result
	}
	return all
}

// AnySimulated reports whether a step is simulated.
func (r *Run) AnySimulated() bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Result.Simulated })
}

// AllSimulated reports whether no step with figures is real.
func (r *Run) AllSimulated() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Result.Figures != nil && !s.Result.Simulated })
}

// EndedEarly is what ended the run, at its latest end, before its plan did; nil: nothing.
func (r *Run) EndedEarly() *Failure {
	for _, e := range slices.Backward(r.Events) {
		if e.Kind == RunFinished {
			return e.Failure
		}
	}
	return nil
}

// CutShort reports whether the step failed because the run ended.
func (r *Result) CutShort() bool {
	return r.Verdict == Failed && r.Failure != nil && r.Failure.Class.EndedRun()
}

// Lines of a file of a step that reports read at most, whatever its result says: about a
// minute of work. A small compressed file can hold billions of short lines.
const (
	mostRecords   = 20_000_000
	mostReadings  = 10_000_000
	mostUncounted = 10_000_000 // records of a step without figures, which count them
)

// MostRecords is more records than the step can have left, and no more than mostRecords.
func (r *Result) MostRecords() int {
	if r.Figures == nil {
		return mostUncounted
	}
	n := min(r.Figures.Asked, mostRecords)
	if probes := r.Part("probes"); probes != nil {
		n += min(probes.Asked, mostRecords)
	}
	return min(2*n+1000, mostRecords)
}

// MostReadings is more lines of telemetry than the step can have left, and no more than
// mostReadings: those of 64 devices of each machine, read every 50 ms for a minute more
// than twice the length of the pass.
func (r *Result) MostReadings() int {
	if r.Client == nil || r.Telemetry == nil {
		return mostReadings
	}
	perS := 64 * 20 * (1 + len(r.Telemetry.Nodes))
	return int(min(float64(perS)*(2*max(r.Client.DurationS, 0)+60), mostReadings))
}

// RoundsOver is how many rounds are over, of a run whose repeats are rounds: a later
// one has begun, or no step is left.
func (r *Run) RoundsOver() int {
	last := 0
	for _, s := range r.NotNeeded {
		last = max(last, s.Result.Step.Repeat)
	}
	open := map[int]bool{}
	for _, s := range r.Steps {
		if s.State == StepDone && s.Result.Verdict != NotRun && !s.Result.CutShort() {
			last = max(last, s.Result.Step.Repeat)
		} else {
			open[s.Result.Step.Repeat] = true
		}
	}
	if open[last] {
		return last - 1
	}
	return last
}
