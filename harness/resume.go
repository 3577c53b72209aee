package harness

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Resume is what a run that continues knows of its former life. Make it with
// NewResume.
type Resume struct {
	// AllowChanged continues with engines that are not those of the start.
	AllowChanged bool
	// Changes say what differs from the run's start; every later result has them.
	Changes []string

	kept    map[string]results.Verdict
	results []*results.Result            // of steps that stay: what later ones are decided by
	untold  []*results.Result            // of steps whose result was written and whose end the journal lacks
	begun   map[string]int               // last attempt of steps that are run again
	earlier map[string][]results.Failure // how their attempts ended
	engines map[string]results.Engine    // by variant, as first seen
	limits  map[string]float64           // power limits of GPUs in watts, by device, as first seen
}

// NewResume reads from a run's folder what stays and what is to be run again.
// Steps with a verdict stay, unless what ended the run ended them too; failed
// ones are run again if retryFailed. Steps that were not needed are decided on
// again if one is run again that had failed.
func NewResume(run *results.Run, retryFailed bool) *Resume {
	return NewResumeOf(run, func(*results.Result) bool { return retryFailed })
}

// NewResumeOf is NewResume with a choice of the failed steps that are run again.
func NewResumeOf(run *results.Run, retry func(failed *results.Result) bool) *Resume {
	r := &Resume{
		kept: map[string]results.Verdict{}, begun: map[string]int{}, earlier: map[string][]results.Failure{},
		engines: enginesSeen(run.Events),
		limits:  firstLimits(run),
	}

	ended, ofStep := endings(run.Events), eventsByStep(run.Events)
	decideAnew := false // a result is dropped by which others were decided
	for i := range run.Steps {
		step := &run.Steps[i]
		result := step.Result
		open := step.State != results.StepDone || step.Open > 0 || step.Retry || result.Verdict == results.NotRun ||
			endedByRun(result, ended)
		again := !open && result.Verdict == results.Failed && retry(result)
		if open || again {
			decideAnew = decideAnew || again
			r.begun[result.Step.ID] = step.Attempt
			r.earlier[result.Step.ID] = earlierOf(ofStep[result.Step.ID])
			continue
		}

		r.kept[result.Step.ID] = result.Verdict
		r.results = append(r.results, result)
		if !isJournaled(ofStep[result.Step.ID], result.Step) {
			r.untold = append(r.untold, result)
		}
	}

	if !decideAnew {
		for _, step := range run.NotNeeded {
			r.kept[step.Result.Step.ID] = notNeeded
		}
	}

	return r
}

// eventsByStep sorts the events of a journal that are about a step.
func eventsByStep(events []results.Event) map[string][]results.Event {
	by := map[string][]results.Event{}
	for _, e := range events {
		if e.Step != "" {
			by[e.Step] = append(by[e.Step], e)
		}
	}
	return by
}

// earlierOf is how the attempts of a step ended that is run again; events are
// those about the step.
func earlierOf(events []results.Event) []results.Failure {
	var all []results.Failure
	open := 0
	cut := func() {
		if open > 0 {
			all = append(all, *results.Failf(results.FailInterrupted, "the run ended during attempt %d", open))
		}
		open = 0
	}

	for _, e := range events {
		switch {
		case e.Kind == results.StepStarted:
			cut()
			open = max(e.Attempt, 1)
		case e.Kind == results.StepFinished && e.Verdict != results.NotRun:
			if e.Failure != nil {
				all = append(all, *e.Failure)
			}
			open = 0
		}
	}

	cut()
	return all
}

// endedByRun reports whether a step failed by what ended the run: Ctrl-C, the
// run's deadline, a full disk.
func endedByRun(result *results.Result, ended []results.Failure) bool {
	if result.Verdict != results.Failed || result.Failure == nil {
		return false
	}
	f := result.Failure
	return f.Class.EndedRun() ||
		slices.ContainsFunc(ended, func(e results.Failure) bool { return e.Class == f.Class && e.Message == f.Message })
}

// endings are why the run ended, each time that it did.
func endings(events []results.Event) []results.Failure {
	var all []results.Failure
	for _, e := range events {
		if e.Kind == results.RunFinished && e.Failure != nil {
			all = append(all, *e.Failure)
		}
	}
	return all
}

// isJournaled reports whether events about a step have the end of an attempt.
func isJournaled(events []results.Event, ref results.StepRef) bool {
	return slices.ContainsFunc(events, func(e results.Event) bool {
		return e.Kind == results.StepFinished && e.Attempt == ref.Attempt
	})
}

// enginesSeen are the engines that answered first, by variant.
func enginesSeen(events []results.Event) map[string]results.Engine {
	first := map[string]results.Engine{}
	for _, e := range events {
		if e.Kind != results.EngineSeen || e.Engine == nil {
			continue
		}
		if _, known := first[e.Engine.Variant]; !known {
			first[e.Engine.Variant] = *e.Engine
		}
	}
	return first
}

// Within leaves out what is not of the plan, which is a part of the run's.
func (r *Resume) Within(plan *plan.Plan) *Resume {
	of := map[string]bool{}
	for _, ref := range plan.Refs() {
		of[ref.ID] = true
	}
	part := *r
	part.kept = maps.Clone(r.kept)
	maps.DeleteFunc(part.kept, func(step string, _ results.Verdict) bool { return !of[step] })
	part.untold = slices.DeleteFunc(slices.Clone(r.untold),
		func(result *results.Result) bool { return !of[result.Step.ID] })
	return &part
}

// Keeps reports whether a step stays as it is.
func (r *Resume) Keeps(step string) bool {
	_, kept := r.kept[step]
	return kept
}

// Left is the number of planned steps that are to be run.
func (r *Resume) Left(plan *plan.Plan) int {
	left := 0
	for _, ref := range plan.Refs() {
		if _, kept := r.kept[ref.ID]; !kept {
			left++
		}
	}
	return left
}

// Done reports whether no step of the run is left.
func (r *Resume) Done(run *results.Run) bool { return len(r.kept) == len(run.Steps)+len(run.NotNeeded) }

// Kept is the outcome of what stays.
func (r *Resume) Kept() Outcome {
	var out Outcome
	for _, verdict := range r.kept {
		out.count(verdict)
	}
	return out
}

// resumePending puts steps that stay aside and gives the others their next attempt.
func (n *run) resumePending(steps []plan.Step) []attempt {
	var pending []attempt
	for _, step := range steps {
		if n.resume == nil {
			pending = append(pending, attempt{Step: step})
			continue
		}
		if _, kept := n.resume.kept[step.ID]; kept {
			continue
		}
		earlier := slices.Clone(n.resume.earlier[step.ID])
		step.Attempt = n.resume.begun[step.ID] + 1
		pending = append(pending, attempt{Step: step, earlier: earlier})
	}
	return pending
}

// byStart orders steps by the moment at which they began: their texts may be of
// different zones, as after a change to winter time. Steps that never began
// come last.
func byStart(a, b results.Step) int {
	moment := func(s results.Step) (time.Time, int) {
		at, err := time.Parse(time.RFC3339Nano, s.Result.StartedAt)
		if err != nil {
			return at, 1
		}
		return at, 0
	}
	atA, unknownA := moment(a)
	atB, unknownB := moment(b)

	return cmp.Or(cmp.Compare(unknownA, unknownB), atA.Compare(atB))
}

// firstLimits are the power limits of GPUs, by device, that a run first knew.
func firstLimits(run *results.Run) map[string]float64 {
	limits := map[string]float64{}
	steps := slices.Clone(run.Steps)
	slices.SortStableFunc(steps, byStart)
	for _, step := range steps {
		if step.Result.Telemetry == nil {
			continue
		}
		for _, g := range step.Result.Telemetry.GPUs {
			if _, known := limits[g.Device]; !known && g.PowerLimitW != nil {
				limits[g.Device] = *g.PowerLimitW
			}
		}
	}

	return limits
}

// skippedVariants are the variants that the run gave up before it was cut off,
// where the scenario says on-failure: skip-variant.
func skippedVariants(r *Runner) map[int]*results.Failure {
	skipped := map[int]*results.Failure{}
	if r.Resume == nil || r.Scenario.OnFailure != scenarios.SkipVariant {
		return skipped
	}

	for _, result := range r.Resume.results {
		i := slices.IndexFunc(r.Scenario.Variants,
			func(v scenarios.Variant) bool { return v.Name == result.Step.Variant })
		if i >= 0 && skipped[i] == nil && givesUpVariant(result) {
			skipped[i] = earlierFailure(result)
		}
	}
	return skipped
}

// givesUpVariant reports whether a step failed in a way that on-failure is for.
func givesUpVariant(result *results.Result) bool {
	return result.Verdict == results.Failed && result.Failure.Class != results.FailSkipped
}

// earlierFailure is why steps are not run after one that failed.
func earlierFailure(result *results.Result) *results.Failure {
	return results.Failf(results.FailEarlier, "step %s failed: %s", result.Step.ID, result.Failure.Message)
}
