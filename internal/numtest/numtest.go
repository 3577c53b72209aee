// Package numtest helps tests to compare figures that may be null.
//
// What goes in: figures and tolerances. What comes out: failed tests, and figures
// as text. It never ships.
package numtest

import (
	"math"
	"strconv"
	"testing"
)

// Near fails the test unless got is known and within tolerance of want.
func Near(t *testing.T, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil || !(math.Abs(*got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, Deref(got), want)
	}
}

// Deref is the value, or "null".
func Deref(x *float64) any {
	if x == nil {
		return "null"
	}
	return *x
}

// Format prints a number with six decimals.
func Format(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
