package results

import (
	"math"
	"strconv"
)

// Condition is what a figure of a step is held against.
type Condition struct {
	Figure string  `json:"figure"` // as in summary.csv; times also in ms: "p99_ttft_ms"
	Op     string  `json:"op"`     // "<", "<=", ">" or ">="
	Value  float64 `json:"value"`  // in the unit of the figure's name
}

// SearchPolicy says which load a run looks for: the highest between From and To
// that meets every target. Its points are decided while it runs.
type SearchPolicy struct {
	Metric  string      `json:"metric"` // "request-rate", "max-concurrency"
	From    float64     `json:"from"`
	To      float64     `json:"to"`
	Start   *float64    `json:"start"` // the first load; null: from, and in later repeats what an earlier one found
	Targets []Condition `json:"targets"`
	Steps   int         `json:"steps"` // at most, of each variant and repeat
	// the search ends when the lowest load that missed is no further above the highest that met, 0.05 for 5 %
	Tolerance float64 `json:"tolerance"`
}

// The metrics of a search.
const (
	SearchRate        = "request-rate"
	SearchConcurrency = "max-concurrency"
)

// RepeatsPolicy says how many repeats a run makes: Max where Min is no less,
// else further rounds while an interval is wider than Until.
type RepeatsPolicy struct {
	Min   int     `json:"min"`
	Max   int     `json:"max"`
	Until float64 `json:"until"` // half-width of the interval of the mean over the mean, 0.02 for 2 %
	// names as in Condition; empty: the figure that decides which variant is ahead
	Figures    []string `json:"figures"`
	Confidence float64  `json:"confidence"` // 0.95
}

// PrunePolicy says when the points above a point are left out.
type PrunePolicy struct {
	When []Condition `json:"when"` // any of them
}

// NotNeeded reports whether a step was left out because it was not needed: that is
// no failure, and nothing is missing.
func (c FailureClass) NotNeeded() bool { return c == FailNotNeeded || c == FailPruned }

// Label is what a sweep would call the load of a step; "" where it is not known.
func (p SearchPolicy) Label(r *Result) (load float64, label string) {
	if load = p.LoadOf(r.Asked); load == 0 {
		return 0, ""
	}
	prefix := "rate"
	if p.Metric == SearchConcurrency {
		prefix = "c"
	}
	return load, prefix + strconv.FormatFloat(load, 'g', -1, 64)
}

// LoadOf is the load of a step of the search; 0 where it is not known.
func (p SearchPolicy) LoadOf(a Asked) float64 {
	switch {
	case p.Metric == SearchConcurrency && a.MaxConcurrency != nil:
		return float64(*a.MaxConcurrency)
	case p.Metric == SearchRate && a.RequestRate != nil && !math.IsInf(*a.RequestRate, 0):
		return *a.RequestRate
	}
	return 0
}

// BlamePolicy says that a run's variants are a two-level factorial over the
// settings in which two variants differ, and which figure their effects are of.
type BlamePolicy struct {
	From    string            `json:"from"`    // a variant of the run
	To      string            `json:"to"`      // likewise
	Figure  string            `json:"figure"`  // as in Condition
	Factors []Factor          `json:"factors"` // what From and To differ in
	Levels  map[string][]bool `json:"levels"`  // by variant, of each factor: whether it has the settings of To
}

// Factor is what each variant of a factorial takes from one of two variants.
type Factor struct {
	Letter   string    `json:"letter"` // in the names of variants that have its settings of To
	Name     string    `json:"name"`
	Settings []Setting `json:"settings"`
}

// Setting is a key in which two variants differ.
type Setting struct {
	Path string `json:"path"` // "args.max-num-seqs"
	From string `json:"from"` // the value as text, secrets hidden; "": not set
	To   string `json:"to"`
}

// BisectPolicy says that a run's variants are versions in their order, among which
// a run looks for the one with which a figure changed. A repeat is a round.
type BisectPolicy struct {
	Figure  string `json:"figure"`  // as in Condition
	Starts  int    `json:"starts"`  // of a version at most, for one decision
	Confirm int    `json:"confirm"` // rounds with the two versions that were found, which no choice has used
}

// TunePolicy says which variant a run looks for: the one with the best Figure of
// those that meet every target. A repeat is a round: Sizes rounds of halving, then
// Confirm rounds with the best variant beside the baseline.
type TunePolicy struct {
	Figure  string      `json:"figure"`  // as in Condition
	Targets []Condition `json:"targets"` // empty: every variant that serves will do
	Sizes   []int       `json:"sizes"`   // the most variants that each round of halving measures
	Confirm int         `json:"confirm"` // rounds after them, which no choice has used
	Drawn   int         `json:"drawn"`   // variants that the scenario has, of which Sizes[0] were drawn
}

// EarlyRule is why a pass ended before its last request.
type EarlyRule string

// The rules.
const (
	EarlyOverload EarlyRule = "overload" // the server does not keep up with the request rate
	EarlyMargin   EarlyRule = "margin"   // every percentile asked for is known well enough
)

// EarlyEnd is the decision to send nothing more, because the answer was known.
// Requests in flight went on to their ends.
type EarlyEnd struct {
	Rule  EarlyRule `json:"rule"`
	AtS   float64   `json:"at_s"`  // seconds from the start of the pass
	Ended int       `json:"ended"` // requests that had ended by then
	// share of the arrivals in the second half of the time until then by which the queue grew; null: another rule
	Growth  *float64      `json:"growth,omitempty"`
	Margins []MarginFound `json:"margins,omitempty"` // what the percentiles were known to; empty: another rule
}

// MarginFound is how well a percentile was known when its pass ended.
type MarginFound struct {
	Figure string   `json:"figure"` // "p99_ttft"
	N      int      `json:"n"`      // requests that it was taken of, from the first one sent
	Asked  float64  `json:"asked"`  // share of the percentile, 0.05 is +-5 %
	Share  *float64 `json:"share"`  // found; null: too few requests to tell
	First  int      `json:"-"`      // requests that the first look takes
}

// Reached reports whether the percentile was known as well as asked.
func (m MarginFound) Reached() bool { return m.Share != nil && *m.Share <= m.Asked }

// EarlyText is when the pass may end early, in words; "": never.
func (a Asked) EarlyText() string {
	if a.Settings == nil {
		return ""
	}
	return a.Settings.Early.String()
}

// Overloaded reports whether the pass ended because the server did not keep up.
func (r *Result) Overloaded() bool { return r.Early != nil && r.Early.Rule == EarlyOverload }

// OverloadedWhy is what a search and pruning say of an overloaded pass.
const OverloadedWhy = "the server did not keep up with the request rate"
