package bisect

import (
	"math"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Outcome is where a search found a change.
type Outcome struct {
	Search
	Versions []Version // in their order
	Started  bool      // at least one round is over
	Suspect  bool      // suspect steps were used

	// between the two versions around the change, in the rounds of confirmation alone;
	// where the search ended before, between the ends; null: no round has both
	Difference *compare.Difference
}

// Version is what a version came to.
type Version struct {
	Name   string
	Starts int      // that have the figure
	Mean   *float64 // geometric mean of the figure over these; null: none
}

// Of reads what the search of a run came to. The run has a policy of bisection.
func Of(run *results.Run, rule compare.Rule) Outcome {
	policy, versions := *run.Manifest.Bisect, run.Manifest.Variants
	var steps []*results.Result
	for _, s := range run.Steps {
		if s.State == results.StepDone {
			steps = append(steps, s.Result)
		}
	}

	rounds := run.RoundsOver()
	o := Outcome{Search: *searchOf(policy, versions, rounds, steps), Started: rounds > 0}
	for i, name := range versions {
		v := Version{Name: name}
		for _, sample := range o.samples[i] {
			o.Suspect = o.Suspect || sample.suspect
		}
		if values := o.values(i, 1); len(values) > 0 {
			sum := 0.0
			for _, value := range values {
				sum += value
			}
			v.Starts, v.Mean = len(values), new(math.Exp(sum/float64(len(values))))
		}
		o.Versions = append(o.Versions, v)
	}
	o.compare(versions, rule)
	return o
}

// Found reports whether no version with a figure lies between the two.
func (o Outcome) Found() bool { return o.Change != 0 && o.Mid < 0 }

// compare sets the two versions around the change beside each other.
func (o *Outcome) compare(versions []string, rule compare.Rule) {
	f, err := catalog.Named(o.policy.Figure)
	if err != nil || len(versions) < 2 {
		return
	}

	from := 1
	if o.Found() {
		from = o.began
	}

	sample := func(version int) compare.Sample {
		s := compare.Sample{Name: versions[version]}
		for _, log := range o.values(version, from) {
			s.Values = append(s.Values, math.Exp(log))
		}
		return s
	}

	d := []compare.Difference{compare.Compare(o.policy.Figure, f.Higher, sample(o.Lo), sample(o.Hi), rule)}
	if d[0].Delta != nil {
		compare.Judge(d, rule)
		o.Difference = &d[0]
	}
}
