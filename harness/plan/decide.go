package plan

import (
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
