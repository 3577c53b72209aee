package session

import (
	"math"
	"slices"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

// A load that needs more connections than files may be open is known before
// anything is launched.
func TestTooManyRequests(t *testing.T) {
	point := func(label string, atOnce, prompts int, rate float64) scenarios.Load {
		l := scenarios.Load{Label: label, NumPrompts: prompts, RequestRate: rate}
		l.MaxConcurrency = atOnce
		return l
	}
	sc := &scenarios.Scenario{Points: []scenarios.Load{
		point("c4", 4, 5000, math.Inf(1)), point("c1500", 1500, 2000, math.Inf(1)),
		point("all", 0, 3000, math.Inf(1)), point("r8", 0, 3000, 8),
	}}
	want := []string{
		"load point c1500: 1500 requests at once need 1628 open files, and 1024 are allowed: raise the limit " +
			"(ulimit -n)",
		"load point all: 3000 requests at once need 3128 open files, and 1024 are allowed: raise the limit (ulimit -n)",
	}
	if got := tooManyRequests(sc, 1024); !slices.Equal(got, want) {
		t.Errorf("tooManyRequests = %q, want %q", got, want)
	}
	if got := tooManyRequests(sc, 0); got != nil {
		t.Errorf("tooManyRequests without a known limit = %q, want nothing", got)
	}
}
