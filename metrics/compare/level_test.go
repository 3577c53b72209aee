package compare

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy are n values around a level with a spread of 1 %.
func noisy(random *rand.Rand, n int, level float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = level * (1 + 0.01*random.NormFloat64())
	}
	return values
}

func placesOf(all []Shift) []int {
	var at []int
	for _, s := range all {
		at = append(at, s.At)
	}
	return at
}

func TestShifts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"one level", noisy(random, 12, 100), nil},
		{"too few to tell", slices.Concat(noisy(random, 3, 100), noisy(random, 3, 200)), nil},
		{"half way", slices.Concat(noisy(random, 6, 100), noisy(random, 6, 110)), []int{6}},
		{"near the end", slices.Concat(noisy(random, 12, 100), noisy(random, 4, 90)), []int{12}},
		{
			"there and back", slices.Concat(noisy(random, 8, 100), noisy(random, 8, 120), noisy(random, 8, 100)),
			[]int{8, 16},
		},
		{"constant", slices.Repeat([]float64{7}, 10), nil},
		{
			"constant, then another", slices.Concat(slices.Repeat([]float64{7}, 5), slices.Repeat([]float64{8}, 5)),
			[]int{5},
		},
	} {
		got := Shifts("output_throughput", true, c.values, DefaultRule())
		if !slices.Equal(placesOf(got), c.want) {
			t.Errorf("%s: shifts at %v, want %v", c.name, placesOf(got), c.want)
		}
		for _, s := range got {
			if s.Baseline.N+s.Candidate.N > len(c.values) || s.Delta == nil {
				t.Errorf("%s: shift = %+v, want a change between values of the series", c.name, s.Difference)
			}
		}
	}
}

// Series without a shift seldom show one, the search of its place included: in
// 400 of them 20 are expected at 5 %, and more than 32 come once in 300 times.
func TestShiftsFalseAlarms(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a simulation")
	}
	random := rand.New(rand.NewPCG(3, 4))
	alarms := 0
	rule := DefaultRule()
	rule.Rounds = 1
	for range 400 {
		if len(Shifts("output_throughput", true, noisy(random, 10, 100), rule)) > 0 {
			alarms++
		}
	}
	if alarms > 32 || alarms < 5 {
		t.Errorf("%d of 400 series without a shift show one, want about 20", alarms)
	}
}
