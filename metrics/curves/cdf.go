package curves

import (
	"math"
	"slices"
)

// maxCDFVertices is the largest number of vertices of a reduced distribution.
const maxCDFVertices = 400

// CDFVertex is a corner of a cumulative distribution: the share P of the
// values is at most X.
type CDFVertex struct{ X, P float64 }

// cdfSteps is how many even steps of rank a reduced distribution keeps, each
// cdfError of the values.
const cdfSteps = 256

// cdfError is how far, in share of the values, the line through the vertices
// of ReducedCDF lies from the distribution at most.
const cdfError = 1.0 / cdfSteps

// CDFVertices is the distribution of an ascending sample: the exact steps of
// small samples, and for others the vertices at every 256th of the ranks and,
// towards both ends, at ever finer ones. Values that are not numbers must not
// be in it; it is empty for an empty sample.
func CDFVertices(sorted []float64) []CDFVertex {
	n := len(sorted)
	if n == 0 {
		return nil
	}
	if n <= maxCDFVertices/2 {
		return cdfSteps1(sorted)
	}
	out := []CDFVertex{{X: sorted[0], P: 0}}
	for _, rank := range cdfRanks(n) {
		out = append(out, CDFVertex{X: sorted[rank-1], P: float64(rank) / float64(n)})
	}
	return out
}

// cdfSteps1 is the exact step function: a foot and a top for each value.
func cdfSteps1(sorted []float64) []CDFVertex {
	var out []CDFVertex
	n := float64(len(sorted))
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] {
			out[len(out)-1].P = float64(i+1) / n
			continue
		}
		out = append(out, CDFVertex{X: v, P: float64(i) / n}, CDFVertex{X: v, P: float64(i+1) / n})
	}
	return out
}

// cdfRanks are the ranks, from 1 to n, that a reduced distribution keeps.
func cdfRanks(n int) []int {
	var ranks []int
	keep := func(share float64) {
		ranks = append(ranks, min(max(int(math.Ceil(share*float64(n))), 1), n))
	}
	for i := range cdfSteps + 1 {
		keep(float64(i) / cdfSteps)
	}
	for tail := cdfError / 1.5; tail*float64(n) >= 0.5 && len(ranks) < maxCDFVertices-4; tail /= 1.5 {
		keep(tail)
		keep(1 - tail)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
