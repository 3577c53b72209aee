package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// allowForDrift tests a difference of arms that ran one after the other again
// with a drift over time taken out: in such an order a machine that warms up
// looks like a difference. What does not stand then is not a difference that can
// be told. The times are when the lives of each arm began, in any unit; arms of
// which they are not known stay as they are. It comes between Compare and Judge.
func (d *Difference) allowForDrift(baseline, candidate Sample, began, candidateBegan []float64, rule Rule) {
	a, b := timed{baseline.Values, began}, timed{candidate.Values, candidateBegan}
	if d.p == nil || !oneAfterTheOther(a, b) {
		return
	}

	p, ok := pWithoutDrift(a, b)
	if p *= 2; !ok || p > 1 { // twice, for no drift is quite as straight as the model's
		p = 1 // or too few lives to take a drift out
	}
	if p > *d.p {
		d.OneAfter = *d.p < 1-rule.Confidence && p >= 1-rule.Confidence
		d.p = &p
	}
}

// timed are values with the times at which their lives began.
type timed struct{ Values, Began []float64 }

// oneAfterTheOther reports whether all lives of one arm began before all of the
// other.
func oneAfterTheOther(a, b timed) bool {
	if len(a.Began) != len(a.Values) || len(b.Began) != len(b.Values) || len(a.Began) == 0 || len(b.Began) == 0 {
		return false
	}
	return slices.Max(a.Began) < slices.Min(b.Began) || slices.Max(b.Began) < slices.Min(a.Began)
}

// pWithoutDrift is the two-sided p of the arms' difference in a linear model
// value = mean + drift x place in the order + difference of the arm; false where
// there are too few values for it.
func pWithoutDrift(a, b timed) (float64, bool) {
	const parameters = 3
	n := len(a.Values) + len(b.Values)
	if n <= parameters {
		return 0, false
	}

	began := slices.Concat(a.Began, b.Began)
	order := slices.Clone(began)
	slices.Sort(order)
	place := make([]float64, n)
	for i, at := range began {
		place[i] = float64(slices.Index(order, at))
	}
	sample := make([]float64, n)
	for i := len(a.Values); i < n; i++ {
		sample[i] = 1
	}
	values := slices.Concat(a.Values, b.Values)

	// The difference of what is left of values and arm without the place, by
	// Frisch, Waugh and Lovell.
	left, side := residuals(values, place), residuals(sample, place)
	cross, square := dot(left, side), dot(side, side)
	if square == 0 {
		return 0, false
	}
	slope := cross / square
	freedom := float64(n - parameters)
	rest := dot(left, left) - slope*cross
	if least := freedom * leastVariance(resolutionOf(values...)); rest < least {
		rest = least
	}
	if rest <= 0 {
		return 0, slope != 0
	}
	t := slope / math.Sqrt(rest/freedom/square)
	return min(1, 2*stats.TDist{V: freedom}.CDF(-math.Abs(t))), true
}

// residuals are what is left of y without its mean and its slope over x.
func residuals(y, x []float64) []float64 {
	meanX, meanY := mean(x), mean(y)
	cross, square := 0.0, 0.0
	for i := range x {
		cross += (x[i] - meanX) * (y[i] - meanY)
		square += (x[i] - meanX) * (x[i] - meanX)
	}
	out := make([]float64, len(y))
	for i := range y {
		out[i] = y[i] - meanY
		if square > 0 {
			out[i] -= cross / square * (x[i] - meanX)
		}
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
