package metrics

import (
	"math"
	"slices"
)

// SketchError is how far a value read from a Sketch lies from the true one at
// most, as a share of it.
const SketchError = 1.0 / 256

// sketchFloor is the smallest magnitude that a Sketch tells from 0.
const sketchFloor = 1e-9

// Sketch is a distribution of any number of values in a few tens of kilobytes:
// counts of values in ranges, 128 to each power of two. Shares are exact,
// values within SketchError. The zero Sketch is empty.
type Sketch struct {
	n            int
	low, high    float64
	below, above ranges // of negative and of positive values
	zero         int
}

// Add counts a value; those that are no numbers are not counted.
func (s *Sketch) Add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if s.n == 0 {
		s.low, s.high = v, v
	}
	s.n++
	s.low, s.high = min(s.low, v), max(s.high, v)
	switch {
	case v > sketchFloor:
		s.above.add(rangeOf(v), 1)
	case v < -sketchFloor:
		s.below.add(rangeOf(-v), 1)
	default:
		s.zero++
	}
}

// N is the number of values.
func (s *Sketch) N() int { return s.n }

// Vertices is the distribution, reduced to at most MaxCDFVertices; empty
// without values. The first and the last are the smallest and the largest
// value, exactly.
func (s *Sketch) Vertices() []CDFVertex {
	if s.n == 0 {
		return nil
	}
	out := []CDFVertex{{X: s.low, P: 0}}
	seen := 0
	add := func(value float64, count int) {
		if count == 0 {
			return
		}
		seen += count
		out = append(out, CDFVertex{X: min(max(value, s.low), s.high), P: float64(seen) / float64(s.n)})
	}
	for i, count := range slices.Backward(s.below.counts) {
		add(-middleOf(s.below.first+i), count)
	}
	if s.zero > 0 {
		add(0, s.zero)
	}
	for i, count := range s.above.counts {
		add(middleOf(s.above.first+i), count)
	}
	out[len(out)-1].X = s.high
	return thinCDF(out, s.n)
}

// Quantile is the value at or below which a share p of the values lies, within
// SketchError; NaN without values.
func (s *Sketch) Quantile(p float64) float64 {
	vertices := s.Vertices()
	for _, v := range vertices {
		if v.P >= p && v.P > 0 {
			return v.X
		}
	}
	return math.NaN()
}

// thinCDF keeps, of the ends of ranges, those that the ranks of a reduced
// distribution need.
func thinCDF(all []CDFVertex, n int) []CDFVertex {
	if len(all) <= MaxCDFVertices {
		return all
	}
	out := all[:1:1]
	at := 1
	for _, rank := range cdfRanks(n) {
		want := float64(rank) / float64(n)
		for at < len(all)-1 && all[at].P < want {
			at++
		}
		if out[len(out)-1] != all[at] {
			out = append(out, all[at])
		}
	}
	return out
}
