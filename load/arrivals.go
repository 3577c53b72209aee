package load

import (
	"fmt"
	"math"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// Gamma draws from a gamma distribution. Reproducing the arrival times of
// vLLM's client takes numpy's legacy generator.
type Gamma interface {
	Gamma(shape, scale float64) float64
}

// gap draws the time between two arrivals: constant with infinite burstiness,
// 0 at an infinite rate, which draws nothing.
func gap(rate, burstiness float64, rng Gamma) float64 {
	switch {
	case math.IsInf(rate, 1):
		return 0
	case math.IsInf(burstiness, 1):
		return 1 / rate
	}
	return rng.Gamma(burstiness, 1/(rate*burstiness))
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
		sum += gap(rate, burstiness, rng)
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

// ArrivalsV06 returns send times by the rules of vLLM's client of 2024: the
// first request leaves at 0, a gap is drawn after each, the last one included,
// and nothing is stretched. That client slept through each gap after sending,
// so that its own delays added up and it fell 9 to 14 % behind; the times here
// are the planned ones.
func ArrivalsV06(n int, rate, burstiness float64, rng Gamma) []float64 {
	at := make([]float64, max(n, 0))
	sum := 0.0
	for i := range at {
		at[i] = sum
		sum += gap(rate, burstiness, rng)
	}
	return at
}

// ArrivalsUntil returns the send times, drawn like those of Arrivals but not
// stretched, that lie before duration (seconds). The rate must be finite. More
// than spec.MaxArrivals are an error.
func ArrivalsUntil(duration, rate, burstiness float64, rng Gamma) ([]float64, error) {
	at := []float64{}
	if !(rate > 0) || math.IsInf(rate, 1) {
		return at, nil
	}
	for sum := gap(rate, burstiness, rng); sum < duration; sum += gap(rate, burstiness, rng) {
		if len(at) == spec.MaxArrivals {
			return nil, fmt.Errorf("plan arrivals: more than %d requests within %g s; raise burstiness %g or lower "+
				"the rate of %g requests/s",
				spec.MaxArrivals, duration, burstiness, rate)
		}
		at = append(at, sum)
	}

	return at, nil
}

// ArrivalsStages returns the send times of stages with rates, one after the other,
// each drawn as ArrivalsUntil does.
func ArrivalsStages(stages []spec.Stage, burstiness float64, rng Gamma) ([]float64, error) {
	at := []float64{}
	begin := 0.0
	for _, s := range stages {
		own, err := ArrivalsUntil(s.Duration.Seconds(), *s.RequestRate, burstiness, rng)
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", s.Name, err)
		}
		for _, t := range own {
			at = append(at, begin+t)
		}
		begin += s.Duration.Seconds()
	}
	return at, nil
}

// rampRate is the rate for request i of n.
func rampRate(r spec.Ramp, i, n int) float64 {
	progress := float64(i) / float64(max(n-1, 1))
	if r.Strategy == spec.RampExponential {
		return r.Start * math.Pow(r.End/r.Start, progress)
	}
	return r.Start + (r.End-r.Start)*progress
}

// ArrivalsRamp returns the send times of n requests on a ramp, as vLLM's
// client plans them (the gaps' sums, not stretched), and the times at which
// the rate reaches each whole number above that of the start. A request whose
// rate is 0 has no gap: it leaves with the one before it, the first at 0.
func ArrivalsRamp(n int, ramp spec.Ramp, burstiness float64, rng Gamma) ([]float64, []results.RateChange, error) {
	if err := ramp.Check(); err != nil {
		return nil, nil, fmt.Errorf("plan arrivals: %w", err)
	}

	at := make([]float64, max(n, 0))
	reached := int(ramp.Start)
	changes := []results.RateChange{{RPS: reached}}
	sum := 0.0
	for i := range at {
		rate := rampRate(ramp, i, n)
		if rate > 0 {
			sum += gap(rate, burstiness, rng)
		}
		at[i] = sum
		for reached < int(rate) {
			reached++
			changes = append(changes, results.RateChange{RPS: reached, AtS: sum})
		}
	}

	return at, changes, nil
}

// Replay returns the send times of a trace: from its first on, and speed times
// as fast as recorded. times are seconds, ascending.
func Replay(times []float64, speed float64) ([]float64, error) {
	if !(speed > 0) || math.IsInf(speed, 1) {
		return nil, fmt.Errorf("replay trace: speed is %v, want a number above 0", speed)
	}
	at := make([]float64, len(times))
	for i, t := range times {
		if at[i] = (t - times[0]) / speed; !(at[i] >= 0) || (i > 0 && at[i] < at[i-1]) || math.IsInf(at[i], 1) {
			return nil, fmt.Errorf("replay trace: time %d is %v s after %v s, want ascending seconds", i, t,
				times[max(i-1, 0)])
		}
	}
	return at, nil
}
