package session

import (
	"testing"

	"github.com/benchrig/bench/harness"
)

// Variants of a tuning may fail, as long as one was measured.
func TestFailuresAsResults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		of     harness.Outcome
		tuning bool
		failed int
	}{
		{"no tuning", harness.Outcome{OK: 3, Failed: 1}, false, 1},
		{"one variant fails", harness.Outcome{OK: 3, Failed: 1}, true, 0},
		{"only suspect steps are left", harness.Outcome{Suspect: 1, Failed: 2}, true, 0},
		{"all fail", harness.Outcome{Failed: 4}, true, 4},
	} {
		got := Outcome{Outcome: tt.of, Interrupted: true}.FailuresAsResults(tt.tuning)
		if got.Failed != tt.failed || got.OK != tt.of.OK || !got.Interrupted {
			t.Errorf("%s: %+v, want %d failed and the rest as it was", tt.name, got, tt.failed)
		}
	}
}
