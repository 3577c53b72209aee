package step

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Schedule says when requests leave.
type Schedule struct {
	Compat      string        // whose rules: dataset.CompatVLLM and so on
	Rate        float64       // requests/s; +Inf: all at once, or at the times of a trace
	Burstiness  float64       // see load.Arrivals
	Ramp        spec.Ramp     // without a strategy: none
	Duration    time.Duration // nothing leaves from then on; 0: the number of prompts decides
	ReplaySpeed float64       // of a trace; 0: as recorded; +Inf: as NoReplay
	NoReplay    bool          // a trace's times do not count
	Stages      []spec.Stage  // see spec.Settings; none: the load is the same throughout
}

func scheduleOf(l scenarios.Load) Schedule {
	return Schedule{
		Compat: l.Compat, Rate: l.RequestRate, Burstiness: l.Burstiness, Ramp: l.Ramp,
		Duration: l.Duration, ReplaySpeed: l.ReplaySpeed, Stages: l.Stages,
	}
}

// spreads says that requests leave at times of their own, and not at once.
func (s Schedule) spreads(set *dataset.Set) bool {
	return !math.IsInf(s.Rate, 1) || s.Ramp.Strategy != "" || s.stagedRates() || !s.NoReplay && traceTimes(set) != nil
}

// stagedRates says that the load has stages, each with a rate.
func (s Schedule) stagedRates() bool { return len(s.Stages) > 0 && s.Stages[0].RequestRate != nil }

// Apply sets the send times of a set's prompts, drawn with the seed that was
// asked for, and notes in asked what it comes to.
func (s Schedule) Apply(o *load.Options, asked *results.Asked, set *dataset.Set) error {
	if err := spec.CheckArrivals(s.Rate, s.Burstiness, s.Ramp, s.Duration); err != nil {
		return fmt.Errorf("plan arrivals: %w", err)
	}

	o.Duration = s.Duration
	n, rng := len(set.Prompts), set.Arrivals(asked.Seed)
	recorded := traceTimes(set)
	var err error
	switch {
	case s.stagedRates():
		o.Repeat = true
		if o.Arrivals, err = load.ArrivalsStages(s.Stages, s.Burstiness, rng); err == nil && len(o.Arrivals) == 0 {
			err = errors.New("plan arrivals: no request falls into the stages")
		}
	case s.Ramp.Strategy != "":
		var changes []results.RateChange
		if o.Arrivals, changes, err = load.ArrivalsRamp(n, s.Ramp, s.Burstiness, rng); err == nil {
			asked.Ramp = &results.Ramp{Strategy: s.Ramp.Strategy, StartRPS: s.Ramp.Start, EndRPS: s.Ramp.End}
			asked.Ramp.Changes = append(asked.Ramp.Changes, changes...)
		}
	case math.IsInf(s.Rate, 1) && recorded != nil && !s.NoReplay && !math.IsInf(s.ReplaySpeed, 1):
		asked.ReplaySpeed = new(cmp.Or(s.ReplaySpeed, 1))
		o.Arrivals, err = load.Replay(recorded, *asked.ReplaySpeed)
	case s.Duration > 0 && math.IsInf(s.Rate, 1):
		o.Repeat = true
	case s.Duration > 0:
		o.Repeat = true
		if o.Arrivals, err = load.ArrivalsUntil(s.Duration.Seconds(), s.Rate, s.Burstiness, rng); err == nil &&
			len(o.Arrivals) == 0 {
			err = fmt.Errorf("plan arrivals: no request falls into %s at %g requests/s", s.Duration, s.Rate)
		}
	case s.Compat == dataset.CompatVLLM06:
		o.Arrivals = load.ArrivalsV06(n, s.Rate, s.Burstiness, rng)
	default:
		o.Arrivals = load.Arrivals(n, s.Rate, s.Burstiness, rng)
	}

	if s.Duration > 0 {
		asked.SendForS = new(s.Duration.Seconds())
	}

	return err
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
