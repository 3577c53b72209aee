package load

import "math"

// Gamma draws from a gamma distribution. Reproducing the arrival times of
// vLLM's client takes numpy's legacy generator.
type Gamma interface {
	Gamma(shape, scale float64) float64
}

// Arrivals returns the intended send times of n requests in seconds from the
// start, as vLLM's client plans them: gaps drawn from a gamma distribution of
// mean 1/rate, summed, and stretched so that the last request leaves at exactly
// n/rate. burstiness 1 is a Poisson process, below 1 is burstier, +Inf gives
// constant gaps. An infinite rate sends everything at once and draws nothing.
func Arrivals(n int, rate, burstiness float64, rng Gamma) []float64 {
	at := make([]float64, max(n, 0))
	if n <= 0 || math.IsInf(rate, 1) {
		return at
	}
	sum := 0.0
	for i := range at {
		if math.IsInf(burstiness, 1) {
			sum += 1 / rate
		} else {
			sum += rng.Gamma(burstiness, 1/(rate*burstiness))
		}
		at[i] = sum
	}
	if sum == 0 {
		return at
	}
	stretch := (float64(n) / rate) / sum
	for i := range at {
		at[i] *= stretch
	}
	return at
}
