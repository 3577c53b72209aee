package curves

import (
	"slices"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// TradeOff sets throughput against the speed at which a user gets an answer.
type TradeOff struct {
	Cells  []compare.Cell // that have both figures
	At     []ParetoPoint  // of each: X tokens per second for a user, Y tokens per second
	Front  []int          // of Cells, in rising order of X: no valid one beats them; none is a null test
	PerGPU bool           // Y is per GPU: those of all cells are known
}

// TradeOffOf takes means over server starts.
func TradeOffOf(cells []compare.Cell) TradeOff {
	t := TradeOff{PerGPU: true}
	for _, c := range cells {
		if c.MeanOf(perUser) == nil || c.MeanOf(outputThroughput) == nil {
			continue
		}
		t.Cells = append(t.Cells, c)
		t.PerGPU = t.PerGPU && !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return gpusOf(r) == 0 })
	}

	y := outputThroughput
	if t.PerGPU {
		y = outputPerGPU
	}

	var ranked []int
	var points []ParetoPoint
	for i, c := range t.Cells {
		t.At = append(t.At, ParetoPoint{X: *c.MeanOf(perUser), Y: *c.MeanOf(y)})
		if c.Valid() && !c.Again {
			ranked, points = append(ranked, i), append(points, t.At[i])
		}
	}

	for _, i := range ParetoFront(points) {
		t.Front = append(t.Front, ranked[i])
	}

	return t
}

// perUser is how fast the answer of one request comes: the inverse of the
// median time per token.
func perUser(r *results.Result) *float64 {
	if r.Figures == nil || r.Figures.TPOT.Median == nil || *r.Figures.TPOT.Median <= 0 {
		return nil
	}
	return new(1 / *r.Figures.TPOT.Median)
}

// gpusOf counts the GPUs of a step's servers; 0: not known.
func gpusOf(r *results.Result) int {
	n := 0
	for _, s := range r.Servers {
		n += len(s.GPUs)
	}
	return n
}

func outputThroughput(r *results.Result) *float64 {
	if f := r.Headline(); f != nil {
		return f.OutputThroughput
	}
	return nil
}

// outputPerGPU is null where a result has no throughput.
func outputPerGPU(r *results.Result) *float64 {
	v := outputThroughput(r)
	if v == nil {
		return nil
	}

	return new(*v / float64(gpusOf(r)))
}
