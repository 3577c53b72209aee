package results

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
