package compare

import (
	"testing"

	"github.com/benchrig/bench/results"
)

func TestRepeatsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repeats []int
		want    string
	}{
		{[]int{1}, "repeat 1"},
		{[]int{2, 2}, "repeat 2"},
		{[]int{2, 1}, "repeats 1, 2"},
		{[]int{1, 2, 3}, "repeats 1 to 3"},
		{[]int{1, 3, 4, 7, 5, 9, 10}, "repeats 1, 3 to 5, 7, 9, 10"},
	} {
		var steps []*results.Result
		for _, n := range c.repeats {
			steps = append(steps, &results.Result{Step: results.StepRef{Repeat: n}})
		}
		if got := RepeatsOf(steps); got != c.want {
			t.Errorf("RepeatsOf(%v) = %q, want %q", c.repeats, got, c.want)
		}
	}
}
