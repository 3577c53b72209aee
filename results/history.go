package results

import (
	"fmt"
	"slices"
)

// history is what the journal tells of one step: its last start and end.
type history struct {
	started, finished bool
	attempt           int
	verdict           Verdict
	failure           *Failure
}

// historiesOf follows every step through the journal.
func historiesOf(events []Event) map[string]history {
	all := make(map[string]history)
	for _, e := range events {
		h := all[e.Step]
		switch e.Kind {
		case StepStarted:
			h = history{started: true, attempt: max(e.Attempt, 1)}
		case StepFinished:
			h.finished, h.verdict, h.failure = true, e.Verdict, e.Failure
		default:
			continue
		}
		all[e.Step] = h
	}
	return all
}

// refused reports whether the step was to be run again, and was not, because it
// would have been another experiment than that which the run began with.
func (h history) refused() bool {
	return h.finished && h.verdict == NotRun && h.failure != nil && h.failure.Class == FailChanged
}

// refused describes such a step: what an earlier attempt measured is not what
// was asked for last.
func (r *Run) refused(ref StepRef, h history, before *Result) Step {
	step := r.withoutResult("", ref, h)
	step.Attempt = max(h.attempt, before.Step.Attempt)
	step.Result.Step.Attempt = step.Attempt
	why := before.Failure
	if why == nil {
		why = Failf(FailChanged, "attempt %d was measured (%s); its %s is still there", before.Step.Attempt, before.Verdict, ResultName)
	}
	step.Result.Earlier = append(slices.Clone(before.Earlier), *why)
	return step
}

// withoutResult describes a step that has no result.json.
func (r *Run) withoutResult(dir string, ref StepRef, h history) Step {
	ref.Attempt = max(ref.Attempt, h.attempt, 1)
	step := Step{State: StepPending, Attempt: h.attempt, Result: &Result{
		Format: FormatVersion, Bench: r.Manifest.Bench, Scenario: r.Manifest.Scenario, Run: r.Manifest.Run, Step: ref,
		Verdict: NotRun, Failure: Failf(FailInterrupted, "the run ended before this step"),
	}}
	switch {
	case h.finished:
		step.State = StepDone
		step.Result.Verdict, step.Result.Failure = h.verdict, h.failure
		if h.verdict == OK || h.verdict == Suspect || h.verdict == "" {
			step.Result.Verdict = Failed
			step.Result.Failure = Failf(FailDisk, "the journal says %q, but there is no %s", h.verdict, ResultName)
		}
	case h.started:
		step.State, step.Open = StepInterrupted, h.attempt
		step.Records = countRecords(dir)
		step.Result.Failure = Failf(FailInterrupted, "the run ended during this step; %d of its requests are on disk", step.Records)
	case !r.Finished:
		step.Result.Failure.Message = "the run ended, or has not come to this step yet"
	}
	if step.Result.Failure == nil {
		step.Result.Failure = &Failure{Class: FailInternal, Message: fmt.Sprintf("the journal says %q and no reason", h.verdict)}
	}
	return step
}

// countRecords counts the records that can be read.
func countRecords(dir string) int {
	n := 0
	for _, err := range ReadRecords(dir) {
		if err == nil {
			n++
		}
	}
	return n
}
