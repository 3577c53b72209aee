package harness

import (
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// Outcome counts the verdicts of a run.
type Outcome struct {
	OK, Suspect, Failed, NotRun int
	NotNeeded                   int // steps that were not needed

	Ended *results.Failure // what ended the run before its plan did; nil: nothing
	Open  int              // steps that a resume would run
}

// notNeeded stands for the verdict of steps that were not needed.
const notNeeded results.Verdict = "not-needed"

func (o *Outcome) count(v results.Verdict) {
	switch v {
	case results.OK:
		o.OK++
	case results.Suspect:
		o.Suspect++
	case results.Failed:
		o.Failed++
	case results.NotRun:
		o.NotRun++
	case notNeeded:
		o.NotNeeded++
	}
}

// ledger is what is known of the planned steps so far.
type ledger struct {
	steps   []plan.Step                // of the plan, in order
	of      map[string][]plan.Step     // the same by variant
	results map[string]*results.Result // of steps that have one, by id
	decided map[string]bool            // steps with a verdict, or left out
	outcome Outcome
	best    map[string]rate // the best output rate of each variant
	causes  []*cause        // why steps failed or were not run, the first one first
	done    int             // steps that are decided

	byFigures bool // figures decide which steps are needed
}

// rate is an output rate, in tokens/s.
type rate struct {
	variant, point string
	tokens         float64
}

// cause is why steps have no figures.
type cause struct {
	failure *results.Failure // of the first of them
	steps   int
}

// blame counts a step without figures under its cause.
func (l *ledger) blame(why *results.Failure) {
	if why == nil {
		return
	}
	for _, c := range l.causes {
		if c.failure.Class == why.Class {
			c.steps++
			return
		}
	}
	l.causes = append(l.causes, &cause{why, 1})
}

// newLedger begins with what stays of a run that is resumed; nil: nothing does.
// byFigures says that figures decide which steps are needed.
func newLedger(p *plan.Plan, from *Resume, byFigures bool) *ledger {
	l := &ledger{
		of: map[string][]plan.Step{}, results: map[string]*results.Result{},
		decided: map[string]bool{}, byFigures: byFigures, best: map[string]rate{},
	}
	for _, life := range p.Lives {
		for _, step := range life.Steps {
			l.steps = append(l.steps, step)
			l.of[step.Variant] = append(l.of[step.Variant], step)
		}
	}

	if from == nil {
		return l
	}

	l.outcome, l.done = from.Kept(), len(from.kept)
	for id := range from.kept {
		l.decided[id] = true
	}

	for _, result := range from.results {
		l.keep(result)
	}

	return l
}

// finish takes in the final result of a step.
func (l *ledger) finish(result *results.Result) {
	l.done++
	l.decided[result.Step.ID] = true
	l.keep(result)
	l.outcome.count(result.Verdict)
	if result.Verdict == results.Failed && result.Failure != nil {
		l.blame(result.Failure)
	}
}

// keep remembers of a result what is needed later.
func (l *ledger) keep(r *results.Result) {
	if f := r.Figures; f != nil && f.OutputThroughput != nil && r.Verdict == results.OK {
		if tokens := *f.OutputThroughput; tokens > l.best[r.Step.Variant].tokens {
			l.best[r.Step.Variant] = rate{r.Step.Variant, r.Step.Point, tokens}
		}
	}

	part := whatDecides(r)
	if !l.byFigures {
		part.Figures, part.Telemetry, part.SQZB, part.LlamaBench, part.Measures = nil, nil, nil, nil, nil
		part.Parts = nil
		part.Cost, part.Extrapolated = nil, nil
	}
	l.results[r.Step.ID] = part
}

// whatDecides is the part of a result that later steps are decided by: what was
// asked for, how it ended, its figures. The rest is on disk: a run of thousands
// of steps has no room for it.
func whatDecides(r *results.Result) *results.Result {
	part := &results.Result{
		Node: r.Node, Step: r.Step, StartedAt: r.StartedAt, Verdict: r.Verdict, Asked: r.Asked, SQZB: r.SQZB,
		LlamaBench: r.LlamaBench, MeasuredBy: r.MeasuredBy, Measures: r.Measures, Cost: r.Cost,
		Extrapolated: r.Extrapolated, Evaluation: r.Evaluation, Failure: withoutLog(r.Failure),
		CommandScore: r.CommandScore, Parts: partsOf(r),
	}
	part.Asked.Body, part.Asked.Settings = "", nil
	if r.Client != nil {
		part.Client = &results.ClientReport{}
	}
	if r.Telemetry != nil {
		part.Telemetry = &results.Telemetry{Sum: r.Telemetry.Sum, Efficiency: r.Telemetry.Efficiency}
	}
	if r.Figures != nil {
		part.Figures = new(figuresThatDecide(*r.Figures))
	}

	return part
}

// figuresThatDecide are figures without their lists.
func figuresThatDecide(f results.Figures) results.Figures {
	f.ChunkSizes, f.Lengths, f.Series, f.Prompts = nil, nil, nil, nil
	f.Steady, f.Answers, f.FinishReasons, f.Failures = nil, nil, nil, nil
	f.FailureSamples, f.TokenSources, f.Sessions = nil, nil, nil
	return f
}

// partsOf are the figures of the parts of a load, without their lists.
func partsOf(r *results.Result) (parts []results.PartFigures) {
	for _, p := range r.Parts {
		parts = append(parts, results.PartFigures{By: p.By, Name: p.Name, Figures: figuresThatDecide(p.Figures)})
	}
	return parts
}

// leaveOut takes in that a step is not run.
// A resume runs it if open.
func (l *ledger) leaveOut(step string, why *results.Failure, open bool) {
	l.done++
	l.decided[step] = true
	if why.Class.NotNeeded() {
		l.outcome.count(notNeeded)
		return
	}
	l.outcome.count(results.NotRun)
	l.blame(why)
	if open {
		l.outcome.Open++
	}
}

// end takes in what ended the run before its plan did; nil: nothing. Steps that
// it ended too are open.
func (l *ledger) end(why *results.Failure) {
	l.outcome.Ended = why
	if why == nil {
		return
	}
	for _, result := range l.results {
		if endedByRun(result, []results.Failure{*why}) {
			l.outcome.Open++
		}
	}
}

// finished lists the results so far of planned steps that are asked for, in the
// order of the plan.
func (l *ledger) finished(wanted func(plan.Step) bool) []*results.Result {
	return l.resultsOf(l.steps, wanted)
}

// finishedOf is finished for the steps of one variant.
func (l *ledger) finishedOf(variant string, wanted func(plan.Step) bool) []*results.Result {
	return l.resultsOf(l.of[variant], wanted)
}

func (l *ledger) resultsOf(steps []plan.Step, wanted func(plan.Step) bool) []*results.Result {
	var all []*results.Result
	for _, step := range steps {
		if result := l.results[step.ID]; result != nil && wanted(step) {
			all = append(all, result)
		}
	}
	return all
}
