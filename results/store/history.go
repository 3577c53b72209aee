package store

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// history is what the journal says about one step: its last start and end.
type history struct {
	started, finished bool
	attempt           int
	verdict           results.Verdict
	failure           *results.Failure
	retry             bool // another attempt is to follow
}

// historiesOf follows every step through the journal.
func historiesOf(events []results.Event) map[string]history {
	all := make(map[string]history)
	for _, e := range events {
		h := all[e.Step]
		switch e.Kind {
		case results.StepStarted:
			h = history{started: true, attempt: max(e.Attempt, 1)}
		case results.StepFinished:
			h.finished, h.verdict, h.failure = true, e.Verdict, e.Failure
			// A step that is left out between two attempts still has the second to come.
			h.retry = e.Retry || h.retry && e.Verdict == results.NotRun
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
	return h.finished && h.verdict == results.NotRun && h.failure != nil && h.failure.Class == results.FailChanged
}

// notNeeded reports whether it turned out, after a result was written, that the
// step is not needed.
func (h history) notNeeded() bool {
	return h.finished && h.verdict == results.NotRun && h.failure != nil && h.failure.Class.NotNeeded()
}

// refusedStep describes such a step: what an earlier attempt measured is not what
// was asked for last.
func refusedStep(r *results.Run, ref results.StepRef, h history, before *results.Result) results.Step {
	step := withoutResult(r, "", ref, h)
	step.Attempt = max(h.attempt, before.Step.Attempt)
	step.Result.Step.Attempt = step.Attempt
	why := before.Failure
	if why == nil {
		why = results.Failf(results.FailChanged, "attempt %d was measured (%s); its %s is still there",
			before.Step.Attempt, before.Verdict, results.ResultName)
	}
	step.Result.Earlier = append(slices.Clone(before.Earlier), *why)
	return step
}

// withoutResult describes a step that has no result.json.
func withoutResult(r *results.Run, dir string, ref results.StepRef, h history) results.Step {
	ref.Attempt = max(ref.Attempt, h.attempt, 1)
	step := results.Step{State: results.StepPending, Attempt: h.attempt, Result: &results.Result{
		Format: results.FormatVersion, Bench: r.Manifest.Bench, Scenario: r.Manifest.Scenario, Run: r.Manifest.Run,
		Step:    ref,
		Verdict: results.NotRun, Failure: results.Failf(results.FailInterrupted, "the run ended before this step"),
	}}
	switch {
	case h.finished:
		step.State = results.StepDone
		step.Result.Verdict, step.Result.Failure = h.verdict, h.failure
		if h.verdict == results.OK || h.verdict == results.Suspect || h.verdict == "" {
			step.Result.Verdict = results.Failed
			step.Result.Failure = results.Failf(results.FailDisk, "the journal says %q, but there is no %s", h.verdict,
				results.ResultName)
		}
	case h.started:
		step.State, step.Open = results.StepInterrupted, h.attempt
		step.Records = countRecords(cmp.Or(openAttempt(r.Dir, ref.ID, h.attempt), dir))
		step.Result.Failure = results.Failf(results.FailInterrupted,
			"the run ended during this step; %d of its requests are on disk", step.Records)
	case !r.Finished:
		step.Result.Failure.Message = "the run ended, or has not come to this step yet"
	}

	if step.Result.Failure == nil {
		step.Result.Failure = &results.Failure{
			Class:   results.FailInternal,
			Message: fmt.Sprintf("the journal says %q and no reason", h.verdict),
		}
	}

	return step
}

// countRecords counts the records that can be read of a step without a result.
func countRecords(dir string) int {
	n := 0
	for record, err := range AtMost(ReadEveryRecord(dir), (&results.Result{}).MostRecords()) {
		if err == nil && !record.Probe {
			n++
		}
	}
	return n
}

// setAsideNotNeeded moves the steps that were not needed out of those that the run
// was to have.
func setAsideNotNeeded(r *results.Run) {
	notNeeded := func(s results.Step) bool {
		return s.Result.Verdict == results.NotRun && s.Result.Failure != nil && s.Result.Failure.Class.NotNeeded()
	}
	for _, s := range r.Steps {
		if notNeeded(s) {
			r.NotNeeded = append(r.NotNeeded, s)
		}
	}
	r.Steps = slices.DeleteFunc(r.Steps, notNeeded)
}

// nameSearched names the points of a search by their load, which is known where
// a step has a result: steps at one load are beside each other, whichever
// step of the search each was. Manifest.Planned keeps the planned names.
func nameSearched(r *results.Run) {
	policy := r.Manifest.Search
	if policy == nil {
		return
	}

	loads := map[string]float64{}
	for i := range r.Steps {
		result := r.Steps[i].Result
		load, label := policy.Label(result)
		if label == "" {
			continue
		}
		result.Step.Point, loads[label] = label, load
	}

	var points []string
	for label := range loads {
		points = append(points, label)
	}

	slices.SortStableFunc(points, func(a, b string) int { return cmp.Compare(loads[a], loads[b]) })
	for _, s := range r.Steps {
		points = text.AppendNew(points, s.Result.Step.Point)
	}

	r.Manifest.Points = points
}
