package metrics_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrig/bench/metrics"
)

// TestLeastSamples has the numbers of the binomial's textbook: p^n <= 1-confidence.
func TestLeastSamples(t *testing.T) {
	for _, c := range []struct {
		p, confidence float64
		want          int
	}{
		{50, 0.95, 5},
		{90, 0.95, 29},
		{95, 0.95, 59},
		{99, 0.95, 299},
		{99, 0.99, 459},
		{99.9, 0.95, 2995},
		{100, 0.95, 0},
		{0, 0.95, 0},
	} {
		got := metrics.LeastSamples(c.p, c.confidence)
		if got != c.want {
			t.Errorf("p%v at %v: %d samples, want %d", c.p, c.confidence, got, c.want)
		}
		if got == 0 {
			continue
		}
		if metrics.MostBeyond(got, c.p, c.confidence) != 0 || metrics.MostBeyond(got-1, c.p, c.confidence) != -1 {
			t.Errorf("p%v at %v: MostBeyond disagrees at %d samples: %d, and %d with one less", c.p, c.confidence, got,
				metrics.MostBeyond(got, c.p, c.confidence), metrics.MostBeyond(got-1, c.p, c.confidence))
		}
	}
}

// TestMostBeyond compares with sums of the binomial made in another way: by
// Pascal's rule, term by term.
func TestMostBeyond(t *testing.T) {
	for _, n := range []int{1, 2, 29, 59, 100, 299, 1000} {
		for _, p := range []float64{50, 90, 95, 99} {
			want, total := -1, 0.0
			for k, term := range binomial(n, 1-p/100) {
				if total += term; total > 0.05 {
					break
				}
				want = k
			}
			if got := metrics.MostBeyond(n, p, 0.95); got != want {
				t.Errorf("p%v of %d samples: %d may be left out, want %d", p, n, got, want)
			}
		}
	}
	if got := metrics.MostBeyond(3_000_000, 50, 0.95); got < 1_498_000 || got > 1_500_000 {
		t.Errorf("the median of 3,000,000 samples: %d may be left out", got)
	}
}

// binomial has the probabilities of 0 to n successes.
func binomial(n int, p float64) []float64 {
	row := []float64{1}
	for range n {
		next := make([]float64, len(row)+1)
		for k, v := range row {
			next[k] += v * (1 - p)
			next[k+1] += v * p
		}
		row = next
	}
	return row
}

// TestPercentileInterval draws samples of a distribution whose percentiles are
// known, and counts how often the interval holds the true one: at least as often as it
// claims, whatever the distribution.
func TestPercentileInterval(t *testing.T) {
	const draws, confidence = 4000, 0.9
	for _, c := range []struct {
		n int
		p float64
	}{{20, 50}, {200, 90}, {600, 99}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.n)))
		low, high, ok := metrics.PercentileInterval(c.n, c.p, confidence)
		if !ok {
			t.Fatalf("p%v of %d samples has no interval", c.p, c.n)
		}
		truth := -math.Log(1 - c.p/100) // of an exponential distribution
		held := 0
		for range draws {
			sample := make([]float64, c.n)
			for i := range sample {
				sample[i] = rng.ExpFloat64()
			}
			slices.Sort(sample)
			if sample[low] <= truth && truth <= sample[high] {
				held++
			}
		}
		if share := float64(held) / draws; share < confidence-0.015 {
			t.Errorf("p%v of %d samples: the interval holds the true value in %.3f of all cases, it claims %v", c.p,
				c.n, share, confidence)
		}
	}
	if _, _, ok := metrics.PercentileInterval(367, 99, 0.95); ok {
		t.Error("367 samples have an interval of p99 at 95 %, and 0.99^367 is above 2.5 %")
	}
	if _, _, ok := metrics.PercentileInterval(368, 99, 0.95); !ok {
		t.Error("368 samples have no interval of p99 at 95 %")
	}
}
