package compare

import (
	"math/rand/v2"
	"slices"

	"github.com/benchrig/bench/metrics"
)

const (
	fewestLevel  = 3    // values of a level: of fewer nobody can say how they spread
	fewestSearch = 8    // values in which a shift is looked for: with fewer, shuffles cannot show one at 5 %
	shuffles     = 1999 // of the values, against which a stretch is held
	mostStretch  = 200  // values up to which stretches in the middle are looked for, too
)

// Shift is a place at which the level of a series changes.
type Shift struct {
	At int // index of the first value after it
	Difference
}

// Shifts looks for places at which the level of a series changes that nothing
// recorded explains. The values are in order of time. The stretch of values whose
// mean stands out most from the others begins and ends at such places if few
// shuffled series have one that stands out as much: that share is its p, so that
// the search itself is allowed for. The parts are searched again. Series of fewer
// than 8 values have no shift that could be detected.
//
// It is circular binary segmentation (Olshen and others, 2004), with shuffles that
// are the same each time.
func Shifts(figure string, higher bool, values []float64, rule Rule) []Shift {
	if len(values) < fewestSearch {
		return nil
	}
	first, last, share := standsOut(values)
	p := pOfShuffles(values, share, rule.Seed)
	if p >= 1-rule.Confidence {
		return nil
	}

	var all []Shift
	ends := slices.Compact([]int{0, first, last, len(values)})
	for i := 1; i < len(ends); i++ {
		part := values[ends[i-1]:ends[i]]
		if i > 1 {
			before := values[ends[i-2]:ends[i-1]]
			found := Shift{ends[i-1], Compare(figure, higher, Sample{Values: before}, Sample{Values: part}, rule)}
			found.p = &p
			all = append(all, found)
		}
		for _, s := range Shifts(figure, higher, part, rule) {
			s.At += ends[i-1]
			all = append(all, s)
		}
	}
	return all
}

// pOfShuffles is the share of shuffled series, the one given among them, of which a
// stretch explains as much.
func pOfShuffles(values []float64, share float64, seed uint64) float64 {
	const rounding = 1e-9
	random := rand.New(rand.NewPCG(seed, uint64(len(values)))) //nolint:gosec // reproducible shuffles, no secret
	shuffled, as := slices.Clone(values), 1
	for range shuffles {
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, _, other := standsOut(shuffled); other >= share-rounding {
			as++
		}
	}
	return float64(as) / (shuffles + 1)
}

// standsOut is the stretch, from first to the value before last, whose mean differs
// most from that of the others, and the share of the variance that this explains.
// The stretch and what is before and after it are empty or have enough values.
func standsOut(values []float64) (first, last int, share float64) {
	n, mean := len(values), metrics.Mean(values)
	sums, total := make([]float64, n+1), 0.0
	for i, v := range values {
		sums[i+1] = sums[i] + v - mean
		total += (v - mean) * (v - mean)
	}

	last = n
	if total == 0 {
		return 0, n, 0
	}
	for i := 0; i <= n-fewestLevel; i++ {
		if i > 0 && i < fewestLevel || i > 0 && n > mostStretch {
			continue
		}
		for j := i + fewestLevel; j <= n; j++ {
			rest := n - (j - i)
			if rest < fewestLevel || j < n && n-j < fewestLevel {
				continue
			}
			within := sums[j] - sums[i]
			// both means lie on the two sides of the mean of all, which is 0 here
			between := within * within * (1/float64(j-i) + 1/float64(rest))
			if between/total > share {
				first, last, share = i, j, between/total
			}
		}
	}
	return first, last, share
}
