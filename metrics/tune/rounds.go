package tune

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/results"
)

// Round says what a round measures.
type Round struct {
	Variants []string
	Points   map[string]string // the one point of each variant that is measured; nil: all

	why  map[string]string // variants that were dropped before
	rest string            // why others are not measured
}

// Without says why a round does not need a step; "": it does.
func (r Round) Without(variant, point string) string {
	if !slices.Contains(r.Variants, variant) {
		if why := r.why[variant]; why != "" {
			return why
		}
		return r.rest
	}
	if only := r.Points[variant]; only != "" && only != point {
		return fmt.Sprintf("%s is confirmed at %s, its best point", variant, only)
	}
	return ""
}

// RoundOf is what a round measures, by the results of the rounds before it: all
// variants, then the better part of them, and at last the best one beside the
// baseline.
func RoundOf(policy results.TunePolicy, variants []string, baseline string, round int,
	before []*results.Result,
) Round {
	alive, dropped := halve(policy, variants, before, min(round-1, len(policy.Sizes)))
	r := Round{why: map[string]string{}}
	for _, c := range dropped {
		r.why[c.Variant] = fmt.Sprintf("%s was dropped after round %d: %s", c.Variant, c.Dropped, c.Why)
	}

	switch {
	case len(alive) == 0:
		r.rest = "no variant is left"
	case round <= len(policy.Sizes) && (round == 1 || len(alive) > 1):
		for _, c := range alive {
			r.Variants = append(r.Variants, c.Variant)
		}
	case round <= len(policy.Sizes):
		r.rest = alive[0].Variant + " alone is left"
	case !alive[0].Meets():
		r.rest = "no variant meets the targets"
	case alive[0].Variant == baseline:
		r.rest = "the baseline came out best: there is nothing to confirm"
	default:
		r.confirm(policy, alive[0], candidateOf(policy, baseline, upTo(before, len(policy.Sizes))))
	}
	return r
}

// confirm measures the best variant and the baseline, each at its best point; a
// baseline that met the targets nowhere at the point of the best variant.
func (r *Round) confirm(policy results.TunePolicy, best, baseline Candidate) {
	at := best.Point
	if baseline.Meets() {
		at = baseline.Point
	}
	r.Variants = []string{best.Variant, baseline.Variant}
	r.Points = map[string]string{best.Variant: best.Point, baseline.Variant: at}
	delete(r.why, baseline.Variant)
	r.rest = fmt.Sprintf("%s came out best: %s", best.Variant, best.describe(policy))
}

// halve goes through rounds of halving: which candidates are left after them, the
// best first, and which were dropped.
func halve(
	policy results.TunePolicy, variants []string, steps []*results.Result, rounds int,
) (alive, dropped []Candidate) {
	alive = ranked(policy, variants, nil)
	for round := 1; round <= rounds; round++ {
		if round > 1 && len(alive) <= 1 {
			break
		}
		names := make([]string, len(alive))
		for i, c := range alive {
			names[i] = c.Variant
		}
		// as the variants are listed, so that candidates that are alike stay in that order
		slices.SortFunc(names, func(a, b string) int { return slices.Index(variants, a) - slices.Index(variants, b) })
		alive = ranked(policy, names, upTo(steps, round))

		keep := 1
		if round < len(policy.Sizes) {
			keep = policy.Sizes[round]
		}
		for i, c := range slices.Backward(alive) {
			if i < keep && c.Failed == "" {
				continue
			}
			c.Dropped, c.Why = round, c.describe(policy)
			if c.Failed == "" {
				c.Why = fmt.Sprintf("%s, place %d of %d", c.Why, i+1, len(alive))
			}
			dropped = append(dropped, c)
		}
		alive = slices.DeleteFunc(alive[:min(keep, len(alive))], func(c Candidate) bool { return c.Failed != "" })
	}
	return alive, dropped
}

// upTo are the steps of the first rounds.
func upTo(steps []*results.Result, rounds int) []*results.Result {
	var found []*results.Result
	for _, r := range steps {
		if r.Step.Repeat <= rounds {
			found = append(found, r)
		}
	}
	return found
}
