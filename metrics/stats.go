package metrics

import (
	"math"
	"slices"
)

// The functions of this file repeat numpy's operations in numpy's order, so
// that they give numpy's results to the last bit. Products are converted to
// float64 before they are added: without that a compiler may fuse the two and
// round once instead of twice.

// Mean is np.mean. It is NaN for an empty sample.
func Mean(x []float64) float64 { return sum(x) / float64(len(x)) }

// stdDev is np.std: the population deviation, ddof 0. It is NaN for an empty sample.
func stdDev(x []float64) float64 { return math.Sqrt(Mean(squares(x))) }

// SampleStd is np.std with ddof 1; nil for fewer than two values.
func SampleStd(x []float64) *float64 {
	if len(x) < 2 {
		return nil
	}
	return new(math.Sqrt(sum(squares(x)) / float64(len(x)-1)))
}

// squares are those of the distances from the mean.
func squares(x []float64) []float64 {
	mean, out := Mean(x), make([]float64, len(x))
	for i, v := range x {
		out[i] = (v - mean) * (v - mean)
	}
	return out
}

// Median is np.median of an ascending sample. It is NaN for an empty one.
func Median(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Percentile is np.percentile's linear rule on an ascending sample, for p from
// 0 to 100. It is NaN for an empty sample.
func Percentile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	at := float64(n-1) * (p / 100)
	below := min(max(int(math.Floor(at)), 0), n-1)
	above := min(below+1, n-1)
	return lerp(sorted[below], sorted[above], at-float64(below))
}

// lerp is numpy's _lerp: from the nearer end, so that it is monotone in t.
func lerp(a, b, t float64) float64 {
	if t >= 0.5 {
		return b - float64((b-a)*(1-t))
	}
	return a + float64((b-a)*t)
}

// pairwiseBlock is the length up to which numpy adds with eight running sums.
const pairwiseBlock = 128

// sum is numpy's pairwise summation.
func sum(x []float64) float64 {
	n := len(x)
	if n > pairwiseBlock {
		half := n / 2
		half -= half % 8
		return sum(x[:half]) + sum(x[half:])
	}

	if n < 8 {
		total := 0.0
		for _, v := range x {
			total += v
		}
		return total
	}

	var r [8]float64
	copy(r[:], x)
	i := 8
	for ; i < n-n%8; i += 8 {
		for j := range r {
			r[j] += x[i+j]
		}
	}

	total := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < n; i++ {
		total += x[i]
	}

	return total
}

// Ascending is a sorted copy of x.
func Ascending(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	return sorted
}

// The following functions bound percentiles by order statistics: whatever the
// distribution, the number of independent samples below its percentile p is
// binomial. A percentile is given from 0 to 100, a confidence from 0 to 1.

// MostBeyond is the largest number of n samples, taken from the top, that can be
// left out so that the largest of the others is still, with the confidence given,
// at least the distribution's percentile p. It is -1 where even the maximum of n
// samples may be lower. This is the estimate of MLPerf's early stopping.
func MostBeyond(n int, p, confidence float64) int {
	return lastBelow(n, 1-p/100, 1-confidence)
}

// LeastSamples is the smallest n for which MostBeyond is not -1: 299 for p99 at
// 95 %. It is 0 for p 0 and 100, which are the extremes and claim nothing.
func LeastSamples(p, confidence float64) int {
	if p <= 0 || p >= 100 {
		return 0
	}
	return int(math.Ceil(math.Log(1-confidence) / math.Log(p/100)))
}

// PercentileInterval has the indices of the order statistics, from 0, between
// which the percentile p of the distribution lies with at least the confidence
// given. ok is false where n samples are too few for that.
func PercentileInterval(n int, p, confidence float64) (low, high int, ok bool) {
	alpha := (1 - confidence) / 2
	below := lastBelow(n, p/100, alpha) // so few samples lie below p at most in alpha of all cases
	beyond := lastBelow(n, 1-p/100, alpha)
	return below, n - 1 - beyond, below >= 0 && beyond >= 0
}

// lastBelow is the largest k for which at most k successes of n, each with
// probability p, are no more likely than alpha; -1 if there is none.
func lastBelow(n int, p, alpha float64) int {
	if p <= 0 || p >= 1 {
		return -1
	}

	logP, logQ := math.Log(p), math.Log1p(-p)
	logTerm := float64(n) * logQ // of exactly k successes
	total := 0.0
	for k := range n {
		if total += math.Exp(logTerm); total > alpha {
			return k - 1
		}
		logTerm += math.Log(float64(n-k)/float64(k+1)) + logP - logQ
	}
	return n - 1
}
