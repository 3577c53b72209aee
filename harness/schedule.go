package harness

import (
	"fmt"
	"math"
	"time"

	"benchrig/dataset"
	"benchrig/load"
	"benchrig/scenarios"
)

// Schedule says when requests leave.
type Schedule struct {
	Compat      string        // whose rules: dataset.CompatVLLM and so on
	Rate        float64       // requests/s; +Inf: all at once, or at the times of a trace
	Burstiness  float64       // see load.Arrivals
	Ramp        load.Ramp     // without a strategy: none
	Duration    time.Duration // nothing leaves from then on; 0: the number of prompts decides
	ReplaySpeed float64       // of a trace; 0: as recorded
}

func scheduleOf(l scenarios.Load) Schedule {
	return Schedule{
		Compat: l.Compat, Rate: l.RequestRate, Burstiness: l.Burstiness, Ramp: load.Ramp(l.Ramp),
		Duration: l.Duration, ReplaySpeed: l.ReplaySpeed,
	}
}

// Apply sets the send times of a set's prompts, drawn with a seed, and returns
// the moments at which a ramp reaches its whole rates.
func (s Schedule) Apply(o *load.Options, set *dataset.Set, seed uint64) ([]load.RateChange, error) {
	o.Duration = s.Duration
	n, rng := len(set.Prompts), set.Arrivals(seed)
	var changes []load.RateChange
	var err error
	switch recorded := traceTimes(set); {
	case s.Ramp.Strategy != "":
		o.Arrivals, changes, err = load.ArrivalsRamp(n, s.Ramp, s.Burstiness, rng)
	case math.IsInf(s.Rate, 1) && recorded != nil:
		speed := s.ReplaySpeed
		if speed == 0 {
			speed = 1
		}
		o.Arrivals, err = load.Replay(recorded, speed)
	case s.Duration > 0:
		o.Repeat = true
		if o.Arrivals = load.ArrivalsUntil(s.Duration.Seconds(), s.Rate, s.Burstiness, rng); math.IsInf(s.Rate, 1) {
			o.Arrivals = nil
		} else if len(o.Arrivals) == 0 {
			err = fmt.Errorf("plan arrivals: no request falls into %s at %g requests/s", s.Duration, s.Rate)
		}
	case s.Compat == dataset.CompatVLLM06:
		o.Arrivals = load.ArrivalsV06(n, s.Rate, s.Burstiness, rng)
	default:
		o.Arrivals = load.Arrivals(n, s.Rate, s.Burstiness, rng)
	}
	return changes, err
}

// traceTimes are the recorded times of a set; nil if it has none.
func traceTimes(set *dataset.Set) []float64 {
	times := make([]float64, 0, len(set.Prompts))
	for _, p := range set.Prompts {
		if p.At == nil {
			return nil
		}
		times = append(times, *p.At)
	}
	return times
}
