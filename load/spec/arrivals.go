package spec

import (
	"fmt"
	"math"
	"time"
)

// Limits of a schedule. What lies beyond them cannot be sent, or not be drawn:
// gaps of a smaller burstiness are 0 in floating point but for one in billions.
const (
	minRate       = 1e-6 // requests/s
	maxRate       = 1e6  // requests/s
	minBurstiness = 1e-3
	MaxArrivals   = 10_000_000 // requests of one pass
)

// CheckArrivals refuses a schedule that cannot be drawn. rate is in requests/s,
// +Inf for all at once; burstiness is +Inf for constant gaps; a duration of 0
// leaves the number of requests to the prompts.
func CheckArrivals(rate, burstiness float64, ramp Ramp, duration time.Duration) error {
	switch {
	case !(burstiness >= minBurstiness):
		return fmt.Errorf("burstiness %g: want at least %g, or inf for constant gaps", burstiness, minBurstiness)
	case ramp.Strategy != "":
		return ramp.Check()
	case math.IsInf(rate, 1):
		return nil
	case !(rate >= minRate && rate <= maxRate):
		return fmt.Errorf("request rate %g: want %g to %g requests/s, or inf to send all at once", rate, minRate,
			maxRate)
	case rate*duration.Seconds() > MaxArrivals:
		return fmt.Errorf("request rate %g for %v makes %.3g requests: want at most %d", rate, duration,
			rate*duration.Seconds(), MaxArrivals)
	}

	return nil
}

// Check refuses a ramp that cannot be drawn. A linear one may start at 0.
func (r Ramp) Check() error {
	for _, rate := range []float64{r.Start, r.End} {
		if rate != 0 && !(rate >= minRate && rate <= maxRate) {
			return fmt.Errorf("ramp from %g to %g requests/s: want rates from %g to %g", r.Start, r.End, minRate,
				maxRate)
		}
	}

	switch {
	case r.Strategy != RampLinear && r.Strategy != RampExponential:
		return fmt.Errorf("ramp strategy %q: want %s or %s", r.Strategy, RampLinear, RampExponential)
	case r.Start == 0 && r.Strategy == RampExponential:
		return fmt.Errorf("ramp from 0 requests/s: an exponential ramp cannot start at 0")
	case r.Start == 0 && r.End == 0:
		return fmt.Errorf("ramp from 0 to 0 requests/s: want a rate above 0")
	}

	return nil
}
