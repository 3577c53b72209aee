package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// decideLater says in the plan which steps and loads are decided while it runs,
// and the least that it will be.
func (p *Plan) decideLater(sc *scenarios.Scenario) {
	lowest := func(point int) bool {
		return !slices.ContainsFunc(sc.Points, sc.Points[point].Above)
	}

	const fewestOfSearch = 2
	for i := range p.Lives {
		life := &p.Lives[i]
		needed := false
		for k := range life.Steps {
			s := &life.Steps[k]
			may := true
			switch {
			case sc.Tune.Figure != "" && s.Repeat > 1:
				s.Decided = tuneNote(sc, s.Repeat)
			case sc.Bisect.Figure != "":
				s.Decided, s.Unneeded = bisectNote(sc, s.Repeat, life.VariantIndex)
				may = s.Decided != ""
			case sc.Search.Metric != "":
				s.Decided = fmt.Sprintf("%s from %g to %g, by the steps before", sc.Search.Metric, sc.Search.From,
					sc.Search.To)
				s.Asked = undecided(sc.Search.Metric, s.Asked)
				may = s.PointIndex >= fewestOfSearch
			case sc.Until.Width > 0 && s.Repeat > sc.Until.Min:
				s.Decided = fmt.Sprintf("only while an interval is wider than %.4g %%", 100*sc.Until.Width)
			case sc.Prune.When != nil && !lowest(s.PointIndex):
				s.Decided = "unless a lower point is overloaded"
			default:
				may = false
			}
			s.Optional = may
			if !may {
				needed = true
				p.LeastSteps++
				p.LeastS += s.EstimateS
			}
		}
		if needed {
			p.LeastS += life.EstimateS
		}
	}
	p.limitTuning(sc)
}

func undecided(metric scenarios.SearchMetric, a results.Asked) results.Asked {
	if metric == scenarios.SearchConcurrency {
		a.MaxConcurrency = nil
	} else {
		a.RequestRate = nil
	}
	return a
}

// At is a load point at the load that a search has decided.
func At(metric scenarios.SearchMetric, l scenarios.Load, load float64) scenarios.Load {
	switch {
	case load == 0:
	case metric == scenarios.SearchConcurrency:
		l.MaxConcurrency = int(load)
	default:
		l.RequestRate = load
	}
	return l
}

func conditions(all []scenarios.Condition) []results.Condition {
	out := make([]results.Condition, len(all))
	for i, c := range all {
		out[i] = results.Condition{Figure: c.Figure, Op: c.Op, Value: c.Value}
	}
	return out
}

// untilConfidence is that of the intervals that end repeats, as in reports.
const untilConfidence = 0.95

// RepeatsPolicy is how many repeats a scenario asks for; nil: a fixed number.
func RepeatsPolicy(sc *scenarios.Scenario) *results.RepeatsPolicy {
	if sc.Until.Width == 0 {
		return nil
	}
	return &results.RepeatsPolicy{
		Min: sc.Until.Min, Max: sc.Repeats, Until: sc.Until.Width, Figures: sc.Until.Figures,
		Confidence: untilConfidence,
	}
}

// SearchPolicy is the load that a scenario looks for; nil: none.
func SearchPolicy(sc *scenarios.Scenario) *results.SearchPolicy {
	s := sc.Search
	if s.Metric == "" {
		return nil
	}
	policy := &results.SearchPolicy{
		Metric: string(s.Metric), From: s.From, To: s.To, Targets: conditions(s.SLO), Steps: s.Steps,
		Tolerance: s.Tolerance,
	}
	if s.Start > 0 {
		policy.Start = &s.Start
	}
	return policy
}

// PrunePolicy is when a scenario leaves out points; nil: never.
func PrunePolicy(sc *scenarios.Scenario) *results.PrunePolicy {
	if sc.Prune.When == nil {
		return nil
	}
	return &results.PrunePolicy{When: conditions(sc.Prune.When)}
}

// TunePolicy is the variant that a scenario looks for; nil: none.
func TunePolicy(sc *scenarios.Scenario) *results.TunePolicy {
	t := sc.Tune
	if t.Figure == "" {
		return nil
	}
	return &results.TunePolicy{
		Figure: t.Figure, Targets: conditions(t.SLO), Sizes: t.Sizes(len(sc.Variants)), Confirm: t.Confirm,
		Drawn: t.Drawn,
	}
}

// BlamePolicy is the factorial that a scenario's variants make up; nil: none.
func BlamePolicy(sc *scenarios.Scenario) *results.BlamePolicy {
	b := sc.Blame
	if b.From == "" {
		return nil
	}
	policy := &results.BlamePolicy{From: b.From, To: b.To, Figure: b.Figure, Levels: b.Levels}
	for i, f := range b.Factors {
		factor := results.Factor{Letter: scenarios.FactorLetter(i), Name: f.Name}
		for _, s := range f.Settings {
			factor.Settings = append(factor.Settings, results.Setting(s))
		}
		policy.Factors = append(policy.Factors, factor)
	}
	return policy
}

// BisectPolicy is the search over versions that a scenario asks for; nil: none.
func BisectPolicy(sc *scenarios.Scenario) *results.BisectPolicy {
	b := sc.Bisect
	if b.Figure == "" {
		return nil
	}
	return &results.BisectPolicy{Figure: b.Figure, Starts: b.Starts, Confirm: b.Confirm}
}

// bisectNote says when a round measures a version; "": always. The first rounds never
// measure one between the ends.
func bisectNote(sc *scenarios.Scenario, round, version int) (note string, never bool) {
	const first = 3 // rounds with the ends, whatever comes out
	switch ends := version == 0 || version == len(sc.Variants)-1; {
	case round > first:
		return "for the versions around the change and one between them", false
	case ends:
		return "", false
	}
	return fmt.Sprintf("round %d: for the first and the last version", round), true
}

// tuneNote says which variants a later round of a tuning measures.
func tuneNote(sc *scenarios.Scenario, round int) string {
	if sizes := sc.Tune.Sizes(len(sc.Variants)); round <= len(sizes) {
		return fmt.Sprintf("round %d: for the best %d of %d variants", round, sizes[round-1], len(sc.Variants))
	}
	return "confirmation: for the best variant and the baseline, at one load point each"
}

// cost is what a variant takes of a round.
type cost struct {
	seconds       float64
	steps, starts int
}

func (c *cost) add(o cost) {
	c.seconds, c.steps, c.starts = c.seconds+o.seconds, c.steps+o.steps, c.starts+o.starts
}

// limitTuning works out the most that a tuning or a bisection comes to: each round
// with the variants, in a confirmation of a tuning the load points, that take longest.
func (p *Plan) limitTuning(sc *scenarios.Scenario) {
	tuned, bisected := TunePolicy(sc), BisectPolicy(sc)
	if tuned == nil && bisected == nil {
		return
	}

	total := cost{}
	for round := range sc.Repeats {
		const pair = 2
		most, whole := pair, bisected != nil || round < len(tuned.Sizes)
		switch {
		case bisected != nil && round >= bisected.Starts && round < sc.Repeats-bisected.Confirm:
			most = pair + 1
		case bisected == nil && whole:
			most = tuned.Sizes[round]
		}
		costs := p.costsOf(round+1, whole)
		for _, c := range costs[:min(most, len(costs))] {
			total.add(c)
		}
	}
	p.EstimateS, p.MostSteps, p.MostStarts = total.seconds, total.steps, total.starts
}

// costsOf lists what each variant takes of a round, the longest first: whole, or
// its longest step alone.
func (p *Plan) costsOf(round int, whole bool) []cost {
	of := map[string]*cost{}
	for _, life := range p.Lives {
		if life.Steps[0].Repeat != round {
			continue
		}
		one := cost{seconds: life.EstimateS, starts: 1}
		if life.SecondPass != nil {
			one.starts++
		}
		longest := one
		for _, s := range life.Steps {
			one.add(cost{seconds: s.EstimateS, steps: 1})
			longest.seconds = max(longest.seconds, life.EstimateS+s.EstimateS)
		}
		longest.steps = 1

		c := of[life.Variant]
		switch {
		case c == nil && whole:
			of[life.Variant] = &one
		case whole:
			c.add(one)
		case c == nil || longest.seconds > c.seconds:
			of[life.Variant] = &longest
		}
	}

	var costs []cost
	for _, c := range of {
		costs = append(costs, *c)
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.seconds, a.seconds) })
	return costs
}
