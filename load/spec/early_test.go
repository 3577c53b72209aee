package spec

import (
	"math"
	"testing"
)

func TestParseMargin(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
		ok    bool
	}{
		{"p99_ttft", 0.05, true},
		{"p50_tpot", 0.01, true},
		{"p99.9_e2el", 0.2, true},
		{"p100_ttft", 0.05, false},
		{"p0_ttft", 0.05, false},
		{"99_ttft", 0.05, false},
		{"p99", 0.05, false},
		{"p99_itl", 0.05, false},
		{"pNaN_ttft", 0.05, false},
		{"p99_ttft", 0, false},
		{"p99_ttft", math.NaN(), false},
		{"p99_ttft", math.Inf(1), false},
	} {
		got, err := ParseMargin(c.name, c.share)
		if (err == nil) != c.ok || c.ok && (got.Name() != c.name || got.Share != c.share) {
			t.Errorf("%s at %v: %+v, %v", c.name, c.share, got, err)
		}
	}
}
