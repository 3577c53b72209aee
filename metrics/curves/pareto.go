package curves

import (
	"cmp"
	"math"
	"slices"
)

// ParetoPoint has two figures of which more is better. Where less is better,
// such as for a latency, the caller gives the negative.
type ParetoPoint struct{ X, Y float64 }

// ParetoFront are the indices of the points that no other point beats: none
// is at least as good in both figures and better in one. They come in rising
// order of X, so Y falls along the way; of equal points all are there. Points
// with a figure that is not a number are on no front.
func ParetoFront(points []ParetoPoint) []int {
	order := make([]int, 0, len(points))
	for i, p := range points {
		if !math.IsNaN(p.X) && !math.IsNaN(p.Y) {
			order = append(order, i)
		}
	}

	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(points[b].X, points[a].X), cmp.Compare(points[b].Y, points[a].Y), cmp.Compare(b, a))
	})

	var front []int
	best := math.Inf(-1)
	for _, i := range order {
		p := points[i]
		equal := len(front) > 0 && points[front[len(front)-1]] == p
		if p.Y > best || equal || len(front) == 0 {
			front = append(front, i)
			best = p.Y
		}
	}

	slices.Reverse(front)
	return front
}
