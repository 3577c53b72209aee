package metrics

import (
	"math"
	"slices"
	"sort"

	"github.com/benchrig/bench/results"
)

// gapBounds are the times between the chunks of all answers. Of chunks that were
// read together the single gaps are not known, but their sum is: no more of them can be long
// than the sum is enough for.
type gapBounds struct {
	values    []float64 // as they are in the figures
	low, high []float64 // of the gaps that are bounded each for itself
	groups    []gapGroup

	outerAdded, outerHidden float64 // seconds, sums over answers
}

// gapGroup are gaps in a row whose sum is known, and the least that the first can be.
type gapGroup struct {
	n          int
	sum, first float64
}

// add adds the gaps of an answer.
func (b *gapBounds) add(o Observation) {
	gaps := o.gaps()
	b.values = append(b.values, gaps...)
	for i := 0; i < len(gaps); {
		n := o.readTogether(i)
		if n == 0 {
			b.low = append(b.low, gaps[i]-min(o.late(i+1), gaps[i]))
			b.high = append(b.high, gaps[i]+o.late(i))
			i++
			continue
		}
		sum := o.TokenS[i+n] - o.TokenS[i]
		b.groups = append(b.groups, gapGroup{n: n, sum: sum, first: max(gaps[i]-o.late(i+1), 0)})
		i += n
	}
	if n := len(o.TokenS); n > 1 {
		b.outerAdded += o.late(n - 1)
		b.outerHidden += o.late(0)
	}
}

// readTogether is how many gaps after chunk i, whose arrival is known, lead to the
// next chunk whose arrival is known, past some that is not; 0: there are none.
func (o Observation) readTogether(i int) int {
	if o.late(i) > 0 || o.late(i+1) == 0 {
		return 0
	}
	for k := i + 2; k < len(o.TokenS); k++ {
		if o.late(k) == 0 {
			return k - i
		}
	}
	return 0
}

// mostAtLeast is how many gaps of the group can be x or longer.
func (g gapGroup) mostAtLeast(x float64) int {
	if x <= 0 {
		return g.n
	}
	n, left := 0, g.sum-g.first
	if more := max(x-g.first, 0); more <= left {
		n, left = 1, left-more
	}
	return min(n+int(math.Min(left/x+1e-9, float64(g.n))), g.n)
}

// mostAtMost is how many gaps of the group can be x or shorter.
func (g gapGroup) mostAtMost(x float64) int {
	if g.first <= x && float64(g.n)*x >= g.sum {
		return g.n
	}
	return g.n - 1 // one takes what the others leave
}

// at is how far each figure of d, of these gaps, can be from the truth.
func (b *gapBounds) at(d results.Dist) results.DistBound {
	n := len(b.values)
	out := (&bounded{low: b.values, value: b.values, high: b.values}).at(d)
	if d.N == 0 || d.N != n {
		return out
	}

	slices.Sort(b.low)
	slices.Sort(b.high)
	out.Mean.AtMostS = new(max(b.outerAdded, b.outerHidden) / float64(n))
	out.Mean.Added = b.outerHidden == 0
	note := func(value *float64, p float64, f *results.FigureBound) {
		low, high := b.percentile(p, b.lowest), b.percentile(p, b.highest)
		f.AtMostS = new(max(*value-low, high-*value, 0))
		f.Added = high-*value < 1e-9
	}
	note(d.Median, 50, &out.Median)
	for i, p := range d.Percentiles {
		note(p.Value, p.P, &out.Percentiles[i].FigureBound)
	}
	return out
}

// percentile is a bound of a percentile, between those of the two gaps that it
// lies between.
func (b *gapBounds) percentile(p float64, ofRank func(k int) float64) float64 {
	rank := p / 100 * float64(len(b.values)-1)
	k := int(math.Floor(rank))
	at := ofRank(k)
	if part := rank - float64(k); part > 0 {
		at += part * (ofRank(k+1) - at)
	}
	return at
}

// lowest is the least that the gap of rank k, from 0, can be.
func (b *gapBounds) lowest(k int) float64 {
	return b.search(func(x float64) bool {
		n := sort.Search(len(b.low), func(i int) bool { return b.low[i] > x })
		for _, g := range b.groups {
			n += g.mostAtMost(x)
		}
		return n >= k+1
	})
}

// highest is the most that the gap of rank k can be.
func (b *gapBounds) highest(k int) float64 {
	return b.search(func(x float64) bool {
		n := len(b.high) - sort.Search(len(b.high), func(i int) bool { return b.high[i] > x })
		for _, g := range b.groups {
			n += g.mostAtLeast(math.Nextafter(x, math.Inf(1)))
		}
		return n < len(b.values)-k
	})
}

// search returns the least x at which yes is true, which stays so for larger ones.
func (b *gapBounds) search(yes func(x float64) bool) float64 {
	low, high := 0.0, 0.0
	if n := len(b.high); n > 0 {
		high = b.high[n-1]
	}
	for _, g := range b.groups {
		high = max(high, g.sum)
	}
	if yes(low) {
		return low
	}
	const halvings = 60
	for range halvings {
		if middle := (low + high) / 2; yes(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
