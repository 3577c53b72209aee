package scenarios

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/benchrig/bench/scenarios/schema"
)

// The types of this file say which planned steps may turn out not to be needed.

// Until ends the repeats of a scenario before all are run. Scenario.Repeats is
// the most there may be.
type Until struct {
	Min     int      // repeats before the first look
	Width   float64  // half of an interval over the mean; 0: every repeat is run
	Figures []string // names of figures; nil: the one that decides which variant is ahead
}

// Search looks for the highest load that meets targets, in steps whose load is
// decided by those before.
type Search struct {
	Metric    SearchMetric // "": there is no search
	From, To  float64
	Start     float64 // the first load; 0: from
	SLO       []Condition
	Steps     int     // at most, of each variant and repeat
	Tolerance float64 // relative
}

// SearchMetric is the load key that a search decides.
type SearchMetric string

// The metrics of a search.
const (
	SearchRate        SearchMetric = "request-rate"
	SearchConcurrency SearchMetric = "max-concurrency"
)

// Prune skips the points above one that is overloaded.
type Prune struct {
	When []Condition // any of them; nil: every point is run
}

// Tune looks for the best variant by successive halving: a repeat is a round, and
// each round measures the better part of the variants of the round before.
type Tune struct {
	Figure     string      // that is to be as good as it can be; "": nothing is tuned
	SLO        []Condition // that the best variant meets
	Keep       float64     // share of the variants that stay after a round
	Confirm    int         // rounds with the best variant and the baseline, which no choice has used
	Candidates int         // variants at most, drawn by Scenario.Seed; 0: all
	Drawn      int         // variants of the file, of which those of the scenario were drawn
}

// Sizes are how many variants each round of halving measures, if none fails.
func (t Tune) Sizes(variants int) []int {
	var sizes []int
	for n := variants; n > 1; n = max(1, min(n-1, int(math.Ceil(float64(n)*t.Keep)))) {
		sizes = append(sizes, n)
	}
	return sizes
}

// Draw are Candidates of the variants in their order: the baseline, or the first,
// and others by the seed.
func (t Tune) Draw(variants []Variant, baseline string, seed uint64) []Variant {
	kept := max(0, slices.IndexFunc(variants, func(v Variant) bool { return v.Name == baseline }))
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(variants)) //nolint:gosec // a reproducible choice, no secret
	order = append([]int{kept}, slices.DeleteFunc(order, func(i int) bool { return i == kept })...)
	chosen := slices.Sorted(slices.Values(order[:t.Candidates]))

	drawn := make([]Variant, len(chosen))
	for i, at := range chosen {
		drawn[i] = variants[at]
	}
	return drawn
}

// TuneProblems says which other keys keep a tuning from working.
func (s *Scenario) TuneProblems() []string {
	return problems([]problem{
		{len(s.Variants) < 2, "tune needs at least two variants: give a matrix of arguments"},
		{s.Tune.Candidates == 1, "candidates is 1, expected at least 2, or 0 for all"},
		{!s.Method.SendsRequests(), "tune is for methods that send requests"},
		{
			s.Search.Metric != "",
			"tune cannot be combined with search: give load points in load.sweep, and targets under tune.slo",
		},
		{s.NullTest, "tune cannot be combined with null-test"},
		{
			s.Order == Grouped,
			"tune needs order interleaved or shuffled: a round is decided when all its variants have been measured",
		},
		{s.Restart == RestartNever, "tune needs a server start for each round: restart must not be never"},
		{s.On == OnSlurm, "tune cannot be combined with on: slurm: jobs do not know each other's results"},
		{s.extrapolates(), "tune cannot be combined with extrapolate"},
	})
}

// problem is what keeps a key from working with others.
type problem struct {
	is  bool
	why string
}

// problems are those that there are.
func problems(all []problem) []string {
	var whys []string
	for _, p := range all {
		if p.is {
			whys = append(whys, p.why)
		}
	}
	return whys
}

func (s *Scenario) extrapolates() bool {
	return slices.ContainsFunc(s.Variants, func(v Variant) bool { return v.Extrapolate > 1 })
}

// Condition is what a figure of a step is held against.
type Condition struct {
	Figure string
	Op     string // "<", "<=", ">", ">="
	Value  float64
	Pos    schema.Pos
}

// ConditionText matches a condition such as "p99_ttft_ms > 2000": figure, operator, number, and % or nothing.
var ConditionText = regexp.MustCompile(`^\s*([a-z0-9_.]+)\s*(<=|>=|<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*(%?)\s*$`)

// NullTestSuffix is what the name of a null test's arm has behind that of the
// baseline.
const NullTestSuffix = "+again"

// Typical is a load in the middle of the range, for estimates.
func (s Search) Typical() float64 {
	middle := math.Sqrt(max(s.From, 1e-9) * max(s.To, 1e-9))
	if s.Metric == SearchConcurrency {
		return max(1, math.Round(middle))
	}
	return middle
}
