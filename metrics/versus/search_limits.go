package versus

import (
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/results"
)

// LimitDifferences compares the limits of every variant with the baseline's, as
// one question.
func LimitDifferences(run *results.Run, searches []search.Run) map[string]compare.Difference {
	var names []string
	var all []compare.Difference
	baseline := search.Limits(searches, BaselineOf(run))
	rule := RuleOf(run.Manifest)
	for _, variant := range VariantsOf(run) {
		sample := search.Limits(searches, variant)
		if variant == BaselineOf(run) || len(sample.Values) == 0 || len(baseline.Values) == 0 {
			continue
		}
		names = append(names, variant)
		all = append(all, compare.Compare(run.Manifest.Search.Metric, true, baseline, sample, rule))
	}

	compare.Judge(all, rule)
	out := map[string]compare.Difference{}
	for i, name := range names {
		out[name] = all[i]
	}

	return out
}

// LimitVerdict is the verdict on a variant's limit beside the baseline's. A limit
// found by a client that was the limit itself is a lower bound: being above one
// establishes nothing.
func LimitVerdict(run *results.Run, searches []search.Run, variant string, d compare.Difference,
) (verdict compare.Verdict, words string) {
	base, _ := search.ClientLimited(searches, BaselineOf(run))
	mine, _ := search.ClientLimited(searches, variant)
	baseBound, bound := base > 0, mine > 0
	if d.Verdict == compare.Better && baseBound || d.Verdict == compare.Worse && bound ||
		d.Verdict == compare.NoDifference && (bound || baseBound) {
		return compare.CannotTell, "cannot tell: the lower of the two limits is a lower bound"
	}

	return d.Verdict, VerdictText(d)
}
