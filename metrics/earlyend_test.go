package metrics

import (
	"testing"

	"github.com/benchrig/bench/results"
)

func TestMarginsText(t *testing.T) {
	for want, m := range map[string]results.MarginFound{
		"p50_e2el is known within 7.5 % (target 5 %, first 150 requests)": {
			Figure: "p50_e2el", N: 150, Asked: 0.05, Share: new(0.075), First: 100,
		},
		"p99_ttft has too few requests (target 5 %, first 150 requests)": {
			Figure: "p99_ttft", N: 150, Asked: 0.05, First: 100,
		},
		"p50_e2el was not looked at, which takes 100 requests at least (target 5 %)": {
			Figure: "p50_e2el", Asked: 0.05, First: 100,
		},
	} {
		if got := marginsText([]results.MarginFound{m}); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}
