package versus

import (
	"testing"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/results"
)

// A limit that the client set is a lower bound: only what lies beyond a bound
// on the far side is established.
func TestLimitVerdictOfLowerBounds(t *testing.T) {
	run := &results.Run{Manifest: results.Manifest{Variants: []string{"base", "other"}}}
	step := func(limited bool) []*results.Result {
		r := &results.Result{}
		if limited {
			r.Warnings = []results.Warning{{Code: results.WarnClientLimit}}
		}
		return []*results.Result{r}
	}
	for _, tt := range []struct {
		base, other bool // limited by the client
		found, want compare.Verdict
	}{
		{false, false, compare.Better, compare.Better},
		{false, true, compare.Better, compare.Better},
		{true, false, compare.Better, compare.CannotTell},
		{true, true, compare.Better, compare.CannotTell},
		{true, false, compare.Worse, compare.Worse},
		{false, true, compare.Worse, compare.CannotTell},
		{false, false, compare.NoDifference, compare.NoDifference},
		{false, true, compare.NoDifference, compare.CannotTell},
		{true, false, compare.NoDifference, compare.CannotTell},
	} {
		searches := []search.Run{{Variant: "base", Steps: step(tt.base)}, {Variant: "other", Steps: step(tt.other)}}
		got, words := LimitVerdict(run, searches, "other", compare.Difference{Verdict: tt.found})
		if got != tt.want || words == "" {
			t.Errorf("%s with bounds %v and %v: %s (%s), want %s", tt.found, tt.base, tt.other, got, words, tt.want)
		}
	}
}
