package blame

import (
	"maps"
	"slices"

	"github.com/benchrig/bench/results"
)

// Failure is what the variants whose servers never gave a figure have in common.
type Failure struct {
	With     []Level  // settings that all of them and no other variant have; nil: there are none
	Variants []string // in which every start failed
	Starts   int      // of these
	Why      string   // of the first one: class and message
}

// Level is a factor and which of its two levels is meant.
type Level struct {
	Factor int
	To     bool // the settings of To, not those of From
}

// tally counts the starts of a variant.
type tally struct{ tried, failed int }

// failures finds out which settings servers failed with.
func (o *Outcome) failures(policy results.BlamePolicy, steps []*results.Result) {
	counts, why := tallies(steps)
	never := Failure{}
	var served []string
	for _, variant := range slices.Sorted(maps.Keys(counts)) {
		c := counts[variant]
		o.Starts, o.Failed = o.Starts+c.tried, o.Failed+c.failed
		if c.failed < c.tried {
			served = append(served, variant)
			continue
		}
		never.Variants, never.Starts = append(never.Variants, variant), never.Starts+c.failed
	}
	if len(never.Variants) == 0 {
		return
	}

	never.Why = why[never.Variants[0]]
	never.With = common(policy, never.Variants, served)
	o.Never = &never
}

// tallies counts by variant the repeats that were tried, and those in which no step
// has figures.
func tallies(steps []*results.Result) (map[string]tally, map[string]string) {
	type repeat struct {
		variant string
		repeat  int
	}
	served, why := map[repeat]bool{}, map[string]string{}
	for _, r := range steps {
		if r.CutShort() || r.Failure != nil && r.Failure.Class == results.FailSkipped {
			continue // it says nothing of the variant
		}
		key := repeat{r.Step.Variant, r.Step.Repeat}
		served[key] = served[key] || r.Verdict != results.Failed
		if r.Failure != nil && why[r.Step.Variant] == "" {
			why[r.Step.Variant] = string(r.Failure.Class) + ": " + r.Failure.Message
		}
	}

	counts := map[string]tally{}
	for key, ok := range served {
		c := counts[key.variant]
		c.tried++
		if !ok {
			c.failed++
		}
		counts[key.variant] = c
	}
	return counts, why
}

// common are the fewest settings, one or two, that all failed variants have and no
// other one; nil where there are none, or no variant served.
func common(policy results.BlamePolicy, failed, served []string) []Level {
	if len(served) == 0 {
		return nil
	}
	has := func(variant string, all []Level) bool {
		for _, l := range all {
			if policy.Levels[variant][l.Factor] != l.To {
				return false
			}
		}
		return true
	}
	for _, all := range conjunctions(len(policy.Factors)) {
		if !slices.ContainsFunc(failed, func(v string) bool { return !has(v, all) }) &&
			!slices.ContainsFunc(served, func(v string) bool { return has(v, all) }) {
			return all
		}
	}
	return nil
}

// conjunctions are all levels one by one, then every two.
func conjunctions(factors int) [][]Level {
	var all [][]Level
	for _, term := range termsOf(factors) {
		for bits := range 1 << len(term) {
			var levels []Level
			for k, factor := range term {
				levels = append(levels, Level{factor, bits&(1<<k) == 0})
			}
			all = append(all, levels)
		}
	}
	return all
}
