package scenarios

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/scenarios/schema"
)

// Bisect looks for the version with which a figure changed: the variants of the
// scenario are versions in their order.
type Bisect struct {
	Figure   string // "": nothing is looked for
	From, To string // names of the first and the last variant that count; "": of the file
	Starts   int    // of a version at most, for one decision
	Confirm  int    // rounds with the two versions that were found, which no choice has used
}

// skips is how many versions that do not start have a round of their own in the plan.
const skips = 4

// Rounds is how many rounds a search can take: for the ends, for each version that
// is asked about, for some that are skipped, and for the confirmation.
func (b Bisect) Rounds(versions int) int {
	decisions := 0
	for gap := versions - 1; gap > 1; gap = (gap + 1) / 2 {
		decisions++
	}
	return b.Starts*(1+decisions) + min(skips, max(0, versions-2)) + b.Confirm
}

// Between are the variants from From to To, and why there are none.
func (b Bisect) Between(variants []Variant) ([]Variant, error) {
	first, last := 0, len(variants)-1
	for name, at := range map[string]*int{b.From: &first, b.To: &last} {
		if name == "" {
			continue
		}
		if *at = slices.IndexFunc(variants, func(v Variant) bool { return v.Name == name }); *at < 0 {
			names := make([]string, len(variants))
			for i, v := range variants {
				names[i] = v.Name
			}
			return nil, fmt.Errorf("no variant is named %q%s", name, schema.DidYouMean(name, names))
		}
	}
	if last-first < 2 {
		return nil, fmt.Errorf("%s must come before %s, with at least one version between: list variants in "+
			"the order of their versions", variants[max(first, 0)].Name, variants[max(last, 0)].Name)
	}
	return variants[first : last+1], nil
}

// BisectProblems says which other keys keep a search over versions from working.
func (s *Scenario) BisectProblems() []string {
	return problems([]problem{
		{!s.Method.SendsRequests(), "bisect is for methods that send requests"},
		{
			s.Search.Metric != "" || s.Tune.Figure != "" || s.Blame.From != "" || s.Prune.When != nil || s.NullTest,
			"bisect cannot be combined with search, tune, blame, prune or null-test",
		},
		{len(s.Points) > 1, "bisect needs a single load point: the figure may change at one and not at another"},
		{
			s.Order == Grouped,
			"bisect needs order shuffled or interleaved: a round is decided when all its versions have been measured",
		},
		{s.Restart == RestartNever, "bisect needs server starts in each round: restart must not be never"},
		{s.On == OnSlurm, "bisect cannot be combined with on: slurm: jobs do not know each other's results"},
		{s.extrapolates(), "bisect cannot be combined with extrapolate"},
	})
}
