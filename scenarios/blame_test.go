package scenarios

import (
	"math/bits"
	"testing"
)

// TestFactorial checks what makes a design: every factor has both levels equally
// often, no two factors go together, none goes with the product of two others, and
// both extremes are runs.
func TestFactorial(t *testing.T) {
	for factors := 1; factors <= MostFactors; factors++ {
		runs := Factorial(factors)
		sign := func(run, factor int) int {
			if runs[run][factor] {
				return 1
			}
			return -1
		}
		sum := func(product func(run int) int) (total int) {
			for run := range runs {
				total += product(run)
			}
			return total
		}

		for a := range factors {
			if sum(func(r int) int { return sign(r, a) }) != 0 {
				t.Errorf("%d factors: %d is not balanced", factors, a)
			}
			for b := range a {
				if sum(func(r int) int { return sign(r, a) * sign(r, b) }) != 0 {
					t.Errorf("%d factors: %d and %d are aliased", factors, a, b)
				}
				for c := range b {
					if sum(func(r int) int { return sign(r, a) * sign(r, b) * sign(r, c) }) != 0 {
						t.Errorf("%d factors: %d is aliased with an interaction of %d and %d", factors, a, b, c)
					}
				}
			}
		}

		all, none := false, false
		for run := range runs {
			second := 0
			for i := range factors {
				second += (sign(run, i) + 1) / 2
			}
			all, none = all || second == factors, none || second == 0
		}
		if !all || !none || bits.OnesCount(uint(len(runs))) != 1 {
			t.Errorf("%d factors: %d runs, the extremes are in it: %t, %t", factors, len(runs), none, all)
		}
	}
	for factors, want := range map[int]int{1: 2, 2: 4, 3: 8, 4: 8, 5: 16, 8: 16, 9: 32, 16: 32} {
		if got := len(Factorial(factors)); got != want {
			t.Errorf("%d factors have %d runs, want %d", factors, got, want)
		}
	}
}
