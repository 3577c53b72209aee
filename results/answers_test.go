package results

import (
	"strings"
	"testing"
)

// TestTrailDiverges finds the first of the lengths at which texts differ.
func TestTrailDiverges(t *testing.T) {
	base := strings.Repeat("abcdefgh", 100)
	unseen := 0
	for at := range 700 {
		other := []byte(base)
		other[at] = '#'
		from, to := TrailDiverges(TrailOf([]byte(base)), TrailOf(other))
		switch { // two digits are equal by chance once in 256 times: then the next length decides
		case to == 0:
			unseen++
		case from > 2*max(at, 4) || to <= at:
			t.Errorf("byte %d differs: found between %d and %d", at, from, to)
		}
	}
	if unseen > 10 {
		t.Errorf("%d of 700 differences are not found", unseen)
	}
	if from, to := TrailDiverges(TrailOf([]byte(base)), TrailOf([]byte(base))); from != 724 || to != 0 {
		t.Errorf("equal texts differ between %d and %d", from, to)
	}
	if got := TrailOf([]byte("abc")); got != "" {
		t.Errorf("trail of a short text = %q", got)
	}
}
