package curves

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParetoFront(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		in   []ParetoPoint
		want []int
	}{
		"none":              {nil, nil},
		"one":               {[]ParetoPoint{{1, 1}}, []int{0}},
		"all on it":         {[]ParetoPoint{{3, 1}, {1, 3}, {2, 2}}, []int{1, 2, 0}},
		"one beats all":     {[]ParetoPoint{{1, 1}, {4, 4}, {2, 3}}, []int{1}},
		"equal in one":      {[]ParetoPoint{{2, 1}, {2, 2}, {1, 2}}, []int{1}},
		"twice the same":    {[]ParetoPoint{{2, 2}, {2, 2}, {3, 1}}, []int{0, 1, 2}},
		"no number":         {[]ParetoPoint{{nan, 9}, {1, 1}, {9, nan}}, []int{1}},
		"negated latencies": {[]ParetoPoint{{-0.5, 100}, {-0.1, 50}, {-0.6, 90}}, []int{0, 1}},
		"infinite":          {[]ParetoPoint{{math.Inf(-1), math.Inf(-1)}}, []int{0}},
	} {
		if got := ParetoFront(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s: ParetoFront(%v) = %v, want %v", name, c.in, got, c.want)
		}
	}
}

// The front is that of the definition, tried pair by pair.
func TestParetoFrontIsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		points := make([]ParetoPoint, 1+r.IntN(30))
		for i := range points {
			points[i] = ParetoPoint{X: float64(r.IntN(8)), Y: float64(r.IntN(8))}
		}
		var want []int
		for i, p := range points {
			if !slices.ContainsFunc(points, func(q ParetoPoint) bool {
				return q.X >= p.X && q.Y >= p.Y && (q.X > p.X || q.Y > p.Y)
			}) {
				want = append(want, i)
			}
		}
		got := ParetoFront(points)
		if !slices.IsSortedFunc(got, func(a, b int) int { return int(points[a].X - points[b].X) }) {
			t.Fatalf("ParetoFront(%v) = %v: not in the order of X", points, got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("ParetoFront(%v) = %v, want %v", points, got, want)
		}
	}
}
