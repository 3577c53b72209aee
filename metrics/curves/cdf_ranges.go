package curves

import (
	"math"
	"slices"
)

// rangeBits of a number's mantissa tell its range.
const rangeBits = 7

// rangeOf numbers the range that a positive value falls into: its exponent and
// the first bits of its mantissa.
func rangeOf(v float64) int { return int(math.Float64bits(v) >> (52 - rangeBits)) }

// middleOf stands for all values of a range.
func middleOf(i int) float64 {
	lo := math.Float64frombits(uint64(i) << (52 - rangeBits))
	hi := math.Float64frombits(uint64(i+1) << (52 - rangeBits))
	return lo + (hi-lo)/2
}

// ranges are counts by range, for those between the first and the last in use.
type ranges struct {
	first  int
	counts []int
}

func (r *ranges) add(i, count int) {
	switch {
	case len(r.counts) == 0:
		r.first, r.counts = i, []int{0}
	case i < r.first:
		r.counts = slices.Insert(r.counts, 0, make([]int, r.first-i)...)
		r.first = i
	case i >= r.first+len(r.counts):
		r.counts = append(r.counts, make([]int, i-r.first-len(r.counts)+1)...)
	}
	r.counts[i-r.first] += count
}
