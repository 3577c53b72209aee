package tune

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/results"
)

// Candidate is a variant and what its rounds came to.
type Candidate struct {
	Variant string
	Rounds  int // in which it was measured, or failed

	Point       string   // with the best figure of those that met the targets, else the nearest to them; "": none
	Value       *float64 // mean of the figure there over server starts; null: not known
	Met, Missed int      // steps there that met and missed the targets
	MissRatio   float64  // of the worst target there, 1 at the target, more beyond; the mean of the steps
	Suspect     bool     // suspect steps were used

	Failed  string // why its last round has no figures; "": it has some
	Dropped int    // the round after which it was dropped; 0: it was not
	Why     string // it was dropped
}

// Meets reports whether most steps at the candidate's point met the targets.
func (c Candidate) Meets() bool { return c.Met > c.Missed && c.Value != nil }

// candidateOf sums up the steps of one variant.
func candidateOf(policy results.TunePolicy, variant string, steps []*results.Result) Candidate {
	steps = slices.DeleteFunc(slices.Clone(steps), func(r *results.Result) bool { return r.Step.Variant != variant })
	best := Candidate{Variant: variant}
	for _, cell := range compare.Cells(steps, nil, nil) {
		here := atPoint(policy, cell)
		if here.Met+here.Missed > 0 && (best.Point == "" || better(policy, here, best) < 0) {
			best = here
		}
	}

	rounds, last := map[int]bool{}, 0
	for _, r := range steps {
		rounds[r.Step.Repeat], last = true, max(last, r.Step.Repeat)
	}
	served, failure := false, ""
	for _, r := range steps {
		if r.Step.Repeat == last {
			p := probe(policy, r)
			served = served || p.Outcome != search.ProbeUnknown
			failure = cmp.Or(failure, p.Why)
		}
	}

	if best.Rounds = len(rounds); !served && last > 0 {
		best.Failed = failure
	}
	return best
}

// probe holds a step against the targets.
func probe(policy results.TunePolicy, r *results.Result) search.Probe {
	return search.ProbeOf(results.SearchPolicy{Targets: policy.Targets}, r)
}

// atPoint is what a variant came to at one point of the load.
func atPoint(policy results.TunePolicy, cell compare.Cell) Candidate {
	c := Candidate{Variant: cell.Variant, Point: cell.Point}
	var badness []float64
	for _, r := range cell.Steps {
		p := probe(policy, r)
		switch p.Outcome {
		case search.ProbeMet:
			c.Met++
		case search.ProbeMissed:
			c.Missed++
		case search.ProbeUnknown: // it says nothing of the variant's speed
		}
		worst := 0.0
		for i, v := range p.Values {
			if v != nil {
				worst = max(worst, search.MissRatio(policy.Targets[i], *v))
			}
		}
		badness = append(badness, worst)
		c.Suspect = c.Suspect || p.Suspect
	}

	c.Value, c.MissRatio = cell.MeanOf(figureOf(policy)), metrics.Mean(badness)
	return c
}

// better orders candidates, the best first: those that meet the targets by their
// figure, then the others by how near they came.
func better(policy results.TunePolicy, a, b Candidate) int {
	rank := func(c Candidate) int {
		switch {
		case c.Failed != "":
			return 3
		case c.Meets():
			return 0
		case c.Met+c.Missed > 0:
			return 1
		}
		return 2 // not measured yet
	}

	if by := cmp.Compare(rank(a), rank(b)); by != 0 || rank(a) > 1 {
		return by
	}
	if rank(a) == 1 {
		return cmp.Or(cmp.Compare(b.Met-b.Missed, a.Met-a.Missed), cmp.Compare(a.MissRatio, b.MissRatio))
	}
	if f, err := catalog.Named(policy.Figure); err == nil && f.Higher {
		return cmp.Compare(*b.Value, *a.Value)
	}
	return cmp.Compare(*a.Value, *b.Value)
}

func figureOf(policy results.TunePolicy) func(*results.Result) *float64 {
	f, err := catalog.Named(policy.Figure)
	if err != nil {
		return func(*results.Result) *float64 { return nil }
	}
	return f.Of
}

// describe says in a few words how a candidate did.
func (c Candidate) describe(policy results.TunePolicy) string {
	const digits = 4
	switch {
	case c.Failed != "":
		return c.Failed
	case c.Value == nil:
		return policy.Figure + " is not known"
	case !c.Meets():
		return fmt.Sprintf("it missed the targets, by %.0f %% at %s", 100*(c.MissRatio-1), c.Point)
	}
	return fmt.Sprintf("%s %s at %s", policy.Figure, strconv.FormatFloat(*c.Value, 'g', digits, 64), c.Point)
}

// ranked lists candidates, the best first.
func ranked(policy results.TunePolicy, variants []string, steps []*results.Result) []Candidate {
	all := make([]Candidate, len(variants))
	for i, v := range variants {
		all[i] = candidateOf(policy, v, steps)
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return better(policy, a, b) })
	return all
}
