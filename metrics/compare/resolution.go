package compare

import "math"

// resolutionOf is the step in which values are given: 0.01 for 12.34 and 5.1; 0
// for values with all the digits of a measurement.
func resolutionOf(values ...float64) float64 {
	const most = 8 // decimals that something prints
	for decimals := range most + 1 {
		scale := math.Pow10(decimals)
		if allWhole(values, scale) {
			return 1 / scale
		}
	}
	return 0
}

func allWhole(values []float64, scale float64) bool {
	const rounding = 1e-9
	for _, v := range values {
		scaled := v * scale
		if math.Abs(scaled-math.Round(scaled)) > rounding*max(1, math.Abs(scaled)) {
			return false
		}
	}
	return true
}

// leastVariance is that of values which rounding to a step may have made equal.
func leastVariance(step float64) float64 {
	const uniform = 12 // variance of a uniform distribution of width 1 is 1/12
	return step * step / uniform
}

// LeastSpread is the least relative noise between starts that designs of several
// variants assume: figures that agree in more digits say nothing of it.
const LeastSpread = 1e-6
