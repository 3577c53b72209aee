package curves

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

// Add counts a value; those that are not numbers are not counted.
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

// Vertices is the distribution, reduced to at most maxCDFVertices; empty
// without values. The first and the last are the smallest and the largest
// value, exactly. It rises only where values are: a step stands for each
// range, and where steps had to be left out the line lies no further than
// SketchLineError from them.
func (s *Sketch) Vertices() []CDFVertex {
	if s.n == 0 {
		return nil
	}

	steps := s.steps()
	out := []CDFVertex{{X: s.low, P: 0}}
	keep := func(v CDFVertex) {
		if out[len(out)-1] != v {
			out = append(out, v)
		}
	}

	if 2*len(steps)+2 <= maxCDFVertices {
		for _, step := range steps {
			keep(CDFVertex{X: step.at, P: step.from})
			keep(CDFVertex{X: step.at, P: step.to})
		}
	} else {
		for _, step := range neededSteps(steps, s.n) {
			if step.to-step.from > 2*cdfError {
				keep(CDFVertex{X: step.at, P: step.from})
			}
			keep(CDFVertex{X: step.at, P: step.to})
		}
	}

	keep(CDFVertex{X: s.high, P: 1})
	return out
}

// SketchLineError is how far the line through the vertices of a sketch lies
// from the steps of its ranges at most, in share of the values.
const SketchLineError = 3 * cdfError

// cdfStep is the rise of a distribution at one value.
type cdfStep struct{ at, from, to float64 }

// steps are the ranges in use, in rising order.
func (s *Sketch) steps() []cdfStep {
	var out []cdfStep
	seen := 0
	add := func(value float64, count int) {
		if count == 0 {
			return
		}
		from := float64(seen) / float64(s.n)
		seen += count
		out = append(out, cdfStep{min(max(value, s.low), s.high), from, float64(seen) / float64(s.n)})
	}

	for i, count := range slices.Backward(s.below.counts) {
		add(-middleOf(s.below.first+i), count)
	}

	add(0, s.zero)
	for i, count := range s.above.counts {
		add(middleOf(s.above.first+i), count)
	}

	return out
}

// neededSteps are those that the ranks of a reduced distribution fall into.
func neededSteps(steps []cdfStep, n int) []cdfStep {
	var out []cdfStep
	at := 0
	for _, rank := range cdfRanks(n) {
		for at < len(steps)-1 && steps[at].to < float64(rank)/float64(n) {
			at++
		}
		if len(out) == 0 || out[len(out)-1] != steps[at] {
			out = append(out, steps[at])
		}
	}
	return out
}

// Quantile is the value at or below which a share p of the values lies, within
// SketchError; NaN without values.
func (s *Sketch) Quantile(p float64) float64 {
	for _, step := range s.steps() {
		if step.to >= p {
			return step.at
		}
	}
	return math.NaN()
}
