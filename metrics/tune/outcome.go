package tune

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Outcome is what the rounds of a run came to.
type Outcome struct {
	Candidates []Candidate // the best first, then those that were dropped, the last one first
	Over       int         // rounds that are over
	Recipe     *Candidate  // the best variant; null: none meets the targets, or the run ended before
	Baseline   Candidate

	// the recipe beside the baseline in the rounds of confirmation alone; null: there were none
	Confirmed *compare.Difference
	Again     Candidate // the recipe in these rounds
}

// Of reads what a run has tuned. The run has a tuning policy.
func Of(run *results.Run, rule compare.Rule) Outcome {
	policy, variants := *run.Manifest.Tune, run.Manifest.Variants
	var steps []*results.Result
	for _, s := range run.Steps {
		if s.State == results.StepDone && s.Result.Verdict != results.NotRun {
			steps = append(steps, s.Result)
		}
	}

	halving := len(policy.Sizes)
	o := Outcome{Over: run.RoundsOver()}
	alive, dropped := halve(policy, variants, steps, min(o.Over, halving))
	slices.Reverse(dropped)
	slices.SortStableFunc(dropped, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Dropped, a.Dropped), better(policy, a, b))
	})
	o.Candidates = slices.Concat(alive, dropped)

	baseline := run.Manifest.Baseline
	if baseline == "" && len(variants) > 0 {
		baseline = variants[0]
	}
	o.Baseline = candidateOf(policy, baseline, upTo(steps, halving))
	if decided := o.Over >= halving || o.Over > 0 && len(alive) == 1; decided && len(alive) > 0 && alive[0].Meets() {
		o.Recipe = &o.Candidates[0]
		o.confirm(policy, steps, rule)
	}
	return o
}

// confirm compares the recipe with the baseline in rounds that no choice has used.
func (o *Outcome) confirm(policy results.TunePolicy, steps []*results.Result, rule compare.Rule) {
	fresh := slices.DeleteFunc(slices.Clone(steps),
		func(r *results.Result) bool { return r.Step.Repeat <= len(policy.Sizes) })
	sampleOf := func(variant string) compare.Sample {
		for _, cell := range compare.Cells(fresh, nil, nil) {
			if cell.Variant == variant {
				return compare.Sample{Name: variant, Values: cell.PerLife(figureOf(policy))}
			}
		}
		return compare.Sample{Name: variant}
	}

	f, err := catalog.Named(policy.Figure)
	if err != nil || o.Recipe.Variant == o.Baseline.Variant || len(fresh) == 0 {
		return
	}
	d := []compare.Difference{compare.Compare(policy.Figure, f.Higher, sampleOf(o.Baseline.Variant),
		sampleOf(o.Recipe.Variant), rule)}
	compare.Judge(d, rule)
	o.Confirmed, o.Again = &d[0], candidateOf(policy, o.Recipe.Variant, fresh)
}
