package search

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
)

// ProbeOutcome is what a step of a search said of its load.
type ProbeOutcome string

// The outcomes. Unknown: the step says nothing of the load.
const (
	ProbeMet     ProbeOutcome = "met"
	ProbeMissed  ProbeOutcome = "missed"
	ProbeUnknown ProbeOutcome = "unknown"
)

// Probe is one step of a search.
type Probe struct {
	Step    string // id
	Load    float64
	Outcome ProbeOutcome
	Values  []*float64 // of the targets, in their order
	Clear   bool       // so far from the targets that noise does not explain it
	Suspect bool
	Why     string // it missed, or says nothing; "": it met the targets
}

// clearFactor is how far a value must be from its target, as a factor, for one
// measurement to be believed.
const clearFactor = 1.5

// ProbeOf reads a finished step of a search. A step whose requests failed, or
// whose server ended or hung under the load, missed; a step that never sent
// anything, or was ended by us, says nothing.
func ProbeOf(policy results.SearchPolicy, r *results.Result) Probe {
	p := Probe{
		Step: r.Step.ID, Load: policy.LoadOf(r.Asked), Suspect: r.Verdict == results.Suspect,
		Values: make([]*float64, len(policy.Targets)),
	}
	if r.Verdict == results.Failed || r.Verdict == results.NotRun {
		p.Outcome, p.Why = failedProbe(r)
		p.Clear = p.Outcome == ProbeMissed && r.Failure.Class == results.FailRequests
		for i, t := range policy.Targets {
			p.Values[i], _ = catalog.Holds(t, r)
		}
		return p
	}

	if r.Overloaded() { // the queue grew to the end: what it would have come to is not known
		p.Outcome, p.Why, p.Clear = ProbeMissed, results.OverloadedWhy, true
		for i, t := range policy.Targets {
			p.Values[i], _ = catalog.Holds(t, r)
		}
		return p
	}

	worst := 0.0
	var missed []string
	p.Outcome = ProbeMet
	for i, t := range policy.Targets {
		value, holds := catalog.Holds(t, r)
		if value == nil {
			p.Outcome, p.Why = ProbeUnknown, t.Figure+" is not known"
			return p
		}
		p.Values[i] = value
		worst = max(worst, MissRatio(t, *value))
		if !holds {
			missed = append(missed, fmt.Sprintf("%s %s", t.Figure, shortNumber(*value)))
		}
	}

	if missed != nil {
		p.Outcome, p.Why = ProbeMissed, strings.Join(missed, ", ")
		p.Clear = worst >= clearFactor
		return p
	}

	p.Clear = worst <= 1/clearFactor
	return p
}

func failedProbe(r *results.Result) (ProbeOutcome, string) {
	if r.Failure == nil {
		return ProbeUnknown, "it has no result"
	}
	switch why := r.Failure.Error(); {
	case r.Failure.Class == results.FailRequests, r.Client != nil && underLoad(r.Failure.Class):
		return ProbeMissed, why
	default:
		return ProbeUnknown, why
	}
}

// underLoad are failures that a load can bring about.
func underLoad(c results.FailureClass) bool {
	switch c {
	case results.FailExited, results.FailFatalLine, results.FailOutOfMemory, results.FailEngineDied,
		results.FailNoProgress, results.FailRestarted, results.FailGPU:
		return true
	default:
		return false
	}
}

// MissRatio is 1 at the target, above 1 where it is missed.
func MissRatio(t results.Condition, value float64) float64 {
	ratio := func(a, b float64) float64 {
		if a == b {
			return 1
		}
		if b <= 0 {
			return math.Inf(1)
		}
		return a / b
	}

	upper := strings.HasPrefix(t.Op, "<")
	if f, err := catalog.Named(t.Figure); err == nil && f.Share && value >= t.Value {
		if value >= 1 {
			return 0
		}
		return ratio(1-value, 1-t.Value) // what is missing, beside what may be
	}

	if upper {
		return ratio(value, t.Value)
	}

	return ratio(t.Value, value)
}

func shortNumber(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// ProbesOf reads the finished steps of one search, in their order.
func ProbesOf(policy results.SearchPolicy, steps []*results.Result) []Probe {
	probes := make([]Probe, len(steps))
	for i, r := range steps {
		probes[i] = ProbeOf(policy, r)
	}
	return probes
}

// EstimateOf is what the searches of earlier repeats found, the latest that
// found anything; 0: none did. steps are those of one variant, in the order in
// which they ran.
func EstimateOf(policy results.SearchPolicy, steps []*results.Result) float64 {
	byRepeat := map[int][]*results.Result{}
	latest := 0
	for _, r := range steps {
		byRepeat[r.Step.Repeat] = append(byRepeat[r.Step.Repeat], r)
		latest = max(latest, r.Step.Repeat)
	}
	for repeat := latest; repeat > 0; repeat-- {
		if found := NextOf(policy, 0, ProbesOf(policy, byRepeat[repeat])).Met; found != nil {
			return *found
		}
	}
	return 0
}
