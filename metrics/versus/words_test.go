package versus

import (
	"testing"

	"github.com/benchrig/bench/metrics/compare"
)

func TestChangesInWords(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{-0.12345, 0.5, "-12.35 to +50.00 %"},
		{-0.9993, 83.2863, "-99.93 to +8329 %"},
		{-0.9958, 29867.4348, "-99.58 to over +10000 %"},
	} {
		if got := IntervalText(compare.Difference{Low: &c.low, High: &c.high}); got != c.want {
			t.Errorf("IntervalText(%g, %g) = %q, want %q", c.low, c.high, got, c.want)
		}
	}
	if got := ChangeText(new(2375.0)); got != "over +10000 %" {
		t.Errorf("ChangeText of 2375 = %q", got)
	}
}
