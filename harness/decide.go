package harness

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/bisect"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/metrics/tune"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// decider says which planned steps are needed and what load they get. That
// follows from the plan and the results so far alone, so that a run that was cut
// off continues as it would have gone.
type decider struct {
	scenario *scenarios.Scenario
	ledger   *ledger

	rounds map[int]*results.Failure // why rounds of repeats are not needed, as of so many decided steps
	chosen map[int]round            // what rounds of a tuning or a bisection measure, as of these steps
	asOf   int
}

// round says which variants a repeat measures.
type round interface {
	// Without says why a round does not need a step; "": it does.
	Without(variant, point string) string
}

// figuresDecide reports whether figures of steps decide which later ones are needed.
func figuresDecide(sc *scenarios.Scenario) bool {
	return plan.RepeatsPolicy(sc) != nil || plan.SearchPolicy(sc) != nil || plan.PrunePolicy(sc) != nil ||
		plan.TunePolicy(sc) != nil || plan.BisectPolicy(sc) != nil
}

// decision is what is done with a planned step, now that it is its turn.
type decision struct {
	notNeeded *results.Failure // why it is not run; nil: it is run
	load      float64          // decided by a search; 0: the planned one
}

func (d *decider) decide(s plan.Step) decision {
	if s.Pinned {
		if policy := plan.SearchPolicy(d.scenario); policy != nil {
			return decision{load: policy.LoadOf(s.Asked)}
		}
		return decision{}
	}
	if why := cmp.Or(d.repeatedEnough(s), d.dropped(s), d.pruned(s)); why != nil {
		return decision{notNeeded: why}
	}
	return d.searched(s)
}

// withLoad is an attempt at the load that a search has decided.
func (d *decider) withLoad(a attempt, load float64) attempt {
	if a.load = load; load == 0 {
		return a
	}
	if d.scenario.Search.Metric == scenarios.SearchConcurrency {
		a.Asked.MaxConcurrency = new(int(load))
	} else {
		a.Asked.RequestRate = &load
	}
	return a
}

// repeatedEnough says why a step's round of repeats is not needed; nil: it is.
// All steps of a round get the same answer, for only rounds before it count.
func (d *decider) repeatedEnough(s plan.Step) *results.Failure {
	policy := plan.RepeatsPolicy(d.scenario)
	if policy == nil || s.Repeat <= policy.Min {
		return nil
	}

	d.forget()
	why, known := d.rounds[s.Repeat]
	if !known {
		why = narrowEnough(*policy, d.ledger.finished(func(o plan.Step) bool { return o.Repeat < s.Repeat }))
		d.rounds[s.Repeat] = why
	}
	return why
}

// forget drops what was decided before the last steps were.
func (d *decider) forget() {
	if d.rounds == nil || d.asOf != d.ledger.done {
		d.rounds, d.chosen, d.asOf = map[int]*results.Failure{}, map[int]round{}, d.ledger.done
	}
}

// dropped says why a round of a tuning or a bisection does not measure a step; nil:
// it does.
func (d *decider) dropped(s plan.Step) *results.Failure {
	if plan.TunePolicy(d.scenario) == nil && plan.BisectPolicy(d.scenario) == nil {
		return nil
	}

	d.forget()
	chosen, known := d.chosen[s.Repeat]
	if !known {
		chosen = d.choose(s.Repeat)
		d.chosen[s.Repeat] = chosen
	}
	if why := chosen.Without(s.Variant, s.Point); why != "" {
		return results.Failf(results.FailNotNeeded, "%s", why)
	}
	return nil
}

// choose decides what a round measures, by the rounds before it.
func (d *decider) choose(repeat int) round {
	names := make([]string, len(d.scenario.Variants))
	for i, v := range d.scenario.Variants {
		names[i] = v.Name
	}
	before := d.ledger.finished(func(o plan.Step) bool { return o.Repeat < repeat })
	if policy := plan.BisectPolicy(d.scenario); policy != nil {
		return bisect.RoundOf(*policy, names, repeat, before)
	}
	return tune.RoundOf(*plan.TunePolicy(d.scenario), names, cmp.Or(d.scenario.Baseline, names[0]), repeat, before)
}

// narrowEnough says why results need no further repeat; nil: they do.
func narrowEnough(policy results.RepeatsPolicy, before []*results.Result) *results.Failure {
	widest, ok := compare.Widest(policy, before)
	switch {
	case !ok:
		return results.Failf(results.FailNotNeeded,
			"no variant has a result that a further repeat could make more certain")
	case !widest.Narrow(policy):
		return nil
	}
	return results.Failf(results.FailNotNeeded, "the intervals are narrow enough: %s", widthText(widest))
}

// widthText is the widest interval in words.
func widthText(w compare.Width) string {
	return fmt.Sprintf("the widest is ±%.2f %%, of %s of %s at %s over %d server starts", 100**w.Relative, w.Figure,
		w.Variant, w.Point, w.Lives)
}

// searched decides on the load of a step of a search, or that none is needed.
func (d *decider) searched(s plan.Step) decision {
	policy := plan.SearchPolicy(d.scenario)
	if policy == nil {
		return decision{}
	}

	before := d.ledger.finishedOf(s.Variant, func(o plan.Step) bool { return o.Repeat < s.Repeat })
	now := d.ledger.finishedOf(s.Variant, func(o plan.Step) bool {
		return o.Repeat == s.Repeat && o.PointIndex < s.PointIndex
	})

	next := search.NextOf(*policy, search.EstimateOf(*policy, before), search.ProbesOf(*policy, now))
	if next.Done {
		return decision{notNeeded: results.Failf(results.FailNotNeeded,
			"the search of repeat %d of %s ended after %s: %s",
			s.Repeat, s.Variant, text.Count(len(now), "step"), next.Why)}
	}

	return decision{load: next.Load}
}

// pruned says which lower point of the step's variant was lost; nil: none. The
// first repeat in which a point said something decides for all later ones, so
// that every point that is measured is measured as often as the others.
func (d *decider) pruned(s plan.Step) *results.Failure {
	policy := plan.PrunePolicy(d.scenario)
	if policy == nil {
		return nil
	}

	points := d.scenario.Points
	for low := range points {
		if !points[s.PointIndex].Above(points[low]) {
			continue
		}
		tried := d.ledger.finishedOf(s.Variant,
			func(o plan.Step) bool { return o.PointIndex == low && o.Repeat <= s.Repeat })
		for _, result := range tried {
			why, known := lost(*policy, result)
			if why != "" {
				return results.Failf(results.FailPruned, "%s was overloaded in repeat %d: %s", points[low].Label,
					result.Step.Repeat, why)
			}
			if known {
				break
			}
		}
	}

	return nil
}

// lost says why a step is lost; known is false where it says nothing of its
// point: it failed, and not by its requests.
func lost(policy results.PrunePolicy, r *results.Result) (why string, known bool) {
	if r.Verdict == results.Failed {
		if r.Failure != nil && r.Failure.Class == results.FailRequests {
			return r.Failure.Message, true
		}
		return "", false
	}
	if r.Overloaded() {
		return results.OverloadedWhy, true
	}
	for _, c := range policy.When {
		if value, holds := catalog.Holds(c, r); holds {
			return fmt.Sprintf("%s is %s, %s %g", c.Figure, strconv.FormatFloat(*value, 'g', 4, 64), c.Op,
				c.Value), true
		}
	}
	return "", true
}
