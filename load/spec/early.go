package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Early says when a pass ends before its last request: nothing more is sent then,
// and requests in flight go on to their ends. The zero value: never.
type Early struct {
	Overload bool     `json:"overload,omitempty"` // once the server is shown not to keep up with the request rate
	Until    []Margin `json:"until,omitempty"`    // once all of these are known well enough
}

// Active reports whether a pass may end early.
func (e Early) Active() bool { return e.Overload || len(e.Until) > 0 }

// String is the policy in words, "until p99_ttft within 5 %, or overloaded"; "":
// never.
func (e Early) String() string {
	var parts []string
	for _, m := range e.Until {
		parts = append(parts, fmt.Sprintf("%s within %.4g %%", m.Name(), 100*m.Share))
	}
	text := strings.Join(parts, " and ")
	switch {
	case e.Overload && text != "":
		return "until " + text + ", or overloaded"
	case e.Overload:
		return "until overloaded"
	case text != "":
		return "until " + text
	}
	return ""
}

// Margin is how well a percentile of a latency is to be known.
type Margin struct {
	Latency    string  `json:"latency"`    // "ttft", "tpot" or "e2el"
	Percentile float64 `json:"percentile"` // above 0, below 100
	Share      float64 `json:"share"`      // of the percentile: 0.05 is +-5 %
}

// Name is how scenarios and flags name the percentile: "p99_ttft".
func (m Margin) Name() string {
	return "p" + strconv.FormatFloat(m.Percentile, 'g', -1, 64) + "_" + m.Latency
}

// ParseMargin reads the name of a percentile, "p99_ttft", and a share above 0.
func ParseMargin(name string, share float64) (Margin, error) {
	percentile, latency, _ := strings.Cut(name, "_")
	digits, isP := strings.CutPrefix(percentile, "p")
	p, err := strconv.ParseFloat(digits, 64)
	switch {
	case !isP || err != nil || !(p > 0 && p < 100) || !slices.Contains([]string{"ttft", "tpot", "e2el"}, latency):
		return Margin{}, fmt.Errorf("%q is not a percentile of ttft, tpot or e2el, such as p99_ttft", name)
	case !(share > 0) || math.IsInf(share, 1):
		return Margin{}, fmt.Errorf("%s: the margin must be above 0 %%: no number of requests reaches 0 %%", name)
	}
	return Margin{Latency: latency, Percentile: p, Share: share}, nil
}

// CheckEarly says what keeps a pass with these arrivals from ending early.
func CheckEarly(e Early, rate float64, ramp Ramp) error {
	if e.Overload && (math.IsInf(rate, 1) || ramp.Strategy != "") {
		return fmt.Errorf("overload is judged at a constant request rate: set a finite rate, and no ramp")
	}
	return nil
}
