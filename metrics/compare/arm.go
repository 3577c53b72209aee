package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/benchrig/bench/metrics"
)

// Sample is one variant's values of a figure, one per server life, in the order in
// which the lives ran. The life is the unit of replication: requests and steps
// of one life share its luck.
type Sample struct {
	Name   string
	Values []float64
}

// Summary describes an arm by itself.
type Summary struct {
	N        int      `json:"n"`
	Mean     *float64 `json:"mean"`
	SD       *float64 `json:"sd"`       // sample deviation, n-1; null for one value
	Low      *float64 `json:"low"`      // t interval of the mean; null for one value
	High     *float64 `json:"high"`     //
	Outliers []int    `json:"outliers"` // indices of values far from the others; shown, never dropped
}

// Summarize describes the arm; confidence is 0.95 for a 95 % interval.
func (a Sample) Summarize(confidence float64) Summary {
	s := Summary{N: len(a.Values), Outliers: outliers(a.Values)}
	if s.N == 0 {
		return s
	}
	s.Mean = new(metrics.Mean(a.Values))
	if s.N < 2 {
		return s
	}
	sd := stats.StdDev(a.Values)
	half := TQuantile(confidence, float64(s.N-1)) * sd / math.Sqrt(float64(s.N))
	s.SD, s.Low, s.High = &sd, new(*s.Mean-half), new(*s.Mean+half)
	return s
}

// HalfWidth is half of the interval of the mean as a share of it; nil: there is no
// interval, or the mean is 0.
func (s Summary) HalfWidth() *float64 {
	if s.High == nil || *s.Mean == 0 {
		return nil
	}
	return new(math.Abs((*s.High - *s.Mean) / *s.Mean))
}

// TQuantile is the t above which (1-confidence)/2 of the distribution lies.
func TQuantile(confidence, df float64) float64 {
	const most, near = 100, 1e-9 // steps; of t: the error left is about its square
	dist, below := stats.TDist{V: df}, 1-(1-confidence)/2

	// Newton's steps from the normal quantile, which is smaller, never overshoot:
	// to the right of 0 the distribution function is concave.
	t := stats.StdNormal.InvCDF(below)
	for range most {
		step := (below - dist.CDF(t)) / dist.PDF(t)
		t += step
		if math.Abs(step) <= near*t {
			break
		}
	}
	return t
}

const (
	outlierScore = 3.5    // modified z score of Iglewicz and Hoaglin
	madOfNormal  = 0.6745 // median absolute deviation of the standard normal distribution
	enoughForMAD = 4      // with fewer, half of the values decide what the rest is measured by
)

// outliers finds values whose distance from the median is out of proportion to
// that of the others.
func outliers(values []float64) []int {
	if len(values) < enoughForMAD {
		return nil
	}

	middle := percentileOf(values, 50)
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - middle)
	}

	mad := percentileOf(distances, 50)
	var found []int
	for i, d := range distances {
		if mad > 0 && madOfNormal*d/mad > outlierScore {
			found = append(found, i)
		}
	}

	return found
}

func percentileOf(values []float64, p float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return metrics.Percentile(sorted, p)
}
