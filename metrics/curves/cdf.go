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

// cdfError is how far apart, in share of the values, those ranks are.
const cdfError = 1.0 / cdfSteps

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
