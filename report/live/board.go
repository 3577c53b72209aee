package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// StepState is how far a step is, as the matrix shows it.
type StepState string

// The states of a step.
const (
	Done      StepState = "done"
	Suspect   StepState = "suspect"
	Failed    StepState = "failed"
	Running   StepState = "running"
	Pending   StepState = "pending"
	NotRun    StepState = "not run" // left out, or cut off
	NotNeeded StepState = "not needed"
)

// states are all of them, in the order in which they are counted.
func states() []StepState {
	return []StepState{Done, Suspect, Failed, Running, Pending, NotRun, NotNeeded}
}

// Step is one planned step and what is known of it.
type Step struct {
	results.StepRef
	State StepState
	Why   string // of a failure or doubt, in words; "": nothing to say
	Life  string // on whose servers it ran, or runs; "": not known

	TokensPerS       *float64 // output
	TTFTS, TPOTS     *float64 // medians
	Completed, Asked int      // requests
}

// Board is what is known of all steps of a run. It grows by events of the
// journal and by results.
type Board struct {
	Manifest results.Manifest
	Steps    []Step // in the order of the plan
	Began    time.Time
	Finished bool
	Ended    *results.Failure // why the run ended before its plan; nil: it did not
	Last     time.Time        // of the last event

	at map[string]int // of Steps, by id
}

// open counts the steps without a verdict.
func (b *Board) open() int {
	n := 0
	for _, s := range b.Steps {
		if s.State == Running || s.State == Pending || s.State == NotRun {
			n++
		}
	}
	return n
}

// newBoard is the board of a run that was read back.
func newBoard(run *results.Run) *Board {
	b := &Board{Manifest: run.Manifest, at: map[string]int{}}
	for i, ref := range run.Manifest.Planned {
		b.at[ref.ID] = i
		b.Steps = append(b.Steps, Step{StepRef: ref, State: Pending})
	}
	for _, e := range run.Events {
		b.Event(e)
	}
	for _, steps := range [][]results.Step{run.Steps, run.NotNeeded} {
		for i := range steps {
			b.known(&steps[i])
		}
	}
	return b
}

// known takes in a step as it was read back.
func (b *Board) known(step *results.Step) {
	if step.State == results.StepDone && step.Open == 0 {
		b.Result(step.Result)
	}
}

// Event takes in a line of the journal. ended is the step that has a result
// now; "": none.
func (b *Board) Event(e results.Event) (ended string) {
	b.Last = e.Time
	switch e.Kind {
	case results.RunStarted, results.RunResumed:
		b.Finished, b.Ended = false, nil
		if b.Began.IsZero() || e.Kind == results.RunResumed {
			b.Began = e.Time
		}
		b.again(e.Kind)
	case results.RunFinished:
		b.Finished, b.Ended = true, e.Failure
	case results.StepStarted, results.PassStarted:
		if s := b.step(e.Step); s != nil {
			*s = Step{StepRef: s.StepRef, State: Running, Life: e.Life}
			s.Attempt = max(e.Attempt, 1)
		}
	case results.StepFinished:
		if s := b.step(e.Step); s != nil {
			s.State, s.Why = stateOf(e.Verdict, e.Failure), wordsOf(e.Failure)
			if e.Verdict != results.NotRun {
				return e.Step
			}
		}
	default: // says nothing about a step
	}

	return ""
}

// again puts what was cut off or left out back to pending when a run continues.
func (b *Board) again(kind results.EventKind) {
	for i := range b.Steps {
		s := &b.Steps[i]
		if kind == results.RunResumed && (s.State == Running || s.State == NotRun) {
			s.State, s.Why = Pending, ""
		}
	}
}

// Result takes in the result of a step.
func (b *Board) Result(r *results.Result) {
	s := b.step(r.Step.ID)
	if s == nil || s.State == Running && r.Step.Attempt < s.Attempt { // it is being run again
		return
	}

	s.Attempt = r.Step.Attempt
	s.State, s.Why = stateOf(r.Verdict, r.Failure), wordsOf(r.Failure)
	if s.State == Suspect {
		s.Why = reasonOf(r)
	}
	if len(r.Servers) > 0 {
		s.Life = r.Servers[0].Life
	}
	if f := r.Figures; f != nil {
		s.TokensPerS, s.TTFTS, s.TPOTS = f.OutputThroughput, f.TTFT.Median, f.TPOT.Median
		s.Completed, s.Asked = f.Completed, f.Asked
	}
}

// reasonOf is the warning that makes a step suspect, and how many more do.
func reasonOf(r *results.Result) string {
	doubts := metrics.Doubts(r)
	if len(doubts) == 0 {
		return ""
	}

	reason := string(doubts[0].Code) + ": " + doubts[0].Message
	if more := len(doubts) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %d more)", more)
	}

	return reason
}

func (b *Board) step(id string) *Step {
	i, ok := b.at[id]
	if !ok {
		return nil
	}
	return &b.Steps[i]
}

func stateOf(v results.Verdict, f *results.Failure) StepState {
	switch v {
	case results.OK:
		return Done
	case results.Suspect:
		return Suspect
	case results.Failed:
		return Failed
	case results.NotRun:
		if f != nil && f.Class.NotNeeded() {
			return NotNeeded
		}
	}
	return NotRun
}

func wordsOf(f *results.Failure) string {
	if f == nil {
		return ""
	}
	return f.Error()
}

// axes are the rows and columns of the matrix, in the order in
// which they are planned; the scenario's order of variants where it is known.
func (b *Board) axes() (variants, points []string) {
	variants = slices.Clone(b.Manifest.Variants)
	for _, s := range b.Steps {
		variants = text.AppendNew(variants, s.Variant)
		points = text.AppendNew(points, s.Point)
	}

	ordered := slices.DeleteFunc(slices.Clone(b.Manifest.Points),
		func(p string) bool { return !slices.Contains(points, p) })
	if len(ordered) == len(points) {
		points = ordered
	}

	return variants, points
}
