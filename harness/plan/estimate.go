package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// The estimate of a plan is a rough promise, so its assumptions are printed
// with it.
const (
	assumedTokensPerS = 50.0  // output tokens/s of one stream
	assumedTTFT       = 0.5   // seconds
	assumedOutput     = 200.0 // tokens, where the dataset decides
	assumedStart      = 120.0 // seconds from spawn to first token and to stop
	assumedLightStart = 3.0   // the same for small servers

	assumptions = "50 output tokens/s a stream, 0.5 s to the first token, 200 tokens where the dataset decides"
)

// speedOf is how many times faster than an engine the servers of a variant are:
// 1 unless they are simulated.
func speedOf(v scenarios.Variant) float64 {
	if !v.Server.Kind().Simulated {
		return 1
	}
	for _, arg := range v.Server.Args {
		if speed, err := strconv.ParseFloat(fmt.Sprint(arg.Value), 64); arg.Name == "sim-speed" && err == nil &&
			speed > 0 {
			return speed
		}
	}
	return 1
}

func startEstimate(kind engines.Kind) float64 {
	_, measures := engines.MeasuringProgram(kind.Name) // its estimate has its start
	switch {
	case kind.External:
		return 0
	case kind.Simulated, kind.QuickStart, measures:
		return assumedLightStart
	}
	return assumedStart
}

// assumes says what the estimate of a plan rests on.
func assumes(sc *scenarios.Scenario) string {
	if sc.RunsProgram() {
		return programWorks()[string(sc.Method)].assumes
	}
	text := assumptions
	start, light, faster := false, false, false
	for _, v := range sc.Variants {
		kind, _ := engines.Lookup(v.Server.Launcher)
		switch startEstimate(kind) {
		case assumedStart:
			start = true
		case assumedLightStart:
			light = true
		}
		faster = faster || speedOf(v) != 1
	}

	switch {
	case start && light:
		text += ", 2 min to start a server (3 s for llamacpp and simulator)"
	case start:
		text += ", 2 min to start a server"
	case light:
		text += ", 3 s to start a server"
	}
	if faster {
		text += "; sim-speed times as fast in simulated servers"
	}

	return text
}

// stepEstimate is for servers that are speed times as fast as is assumed.
func stepEstimate(l scenarios.Load, speed float64) float64 {
	one := 0.0
	for i, class := range l.Classes {
		one += class.Share * requestEstimate(l.OfClass[i], speed)
	}
	if len(l.Classes) == 0 {
		one = requestEstimate(l, speed)
	}

	waves := 1.0
	if l.MaxConcurrency > 0 {
		waves = math.Ceil(float64(l.NumPrompts) / float64(l.MaxConcurrency))
	}

	total := waves * one
	if l.Duration > 0 {
		return l.Duration.Seconds() + one
	}
	if !math.IsInf(l.RequestRate, 1) {
		total = max(total, float64(l.NumPrompts)/l.RequestRate+one)
	}
	if l.Ramp.Strategy != "" {
		total = max(total, float64(l.NumPrompts)/((l.Ramp.Start+l.Ramp.End)/2)+one)
	}

	return total
}

// requestEstimate is for a request, or a conversation, of a load whose requests are
// alike.
func requestEstimate(l scenarios.Load, speed float64) float64 {
	output := float64(l.OutputLen)
	if output == 0 {
		output = assumedOutput
	}
	turns := float64(max(l.Dataset.Turns, 1))
	return turns*(assumedTTFT+output/assumedTokensPerS)/speed + (turns-1)*l.ThinkTime.Seconds()
}

// AskedOf writes a load point down as it goes into plans and results.
func AskedOf(l scenarios.Load, seed uint64) results.Asked {
	a := results.Asked{
		Endpoint: l.Endpoint, API: l.API, Dataset: l.Dataset.Kind, DatasetPath: l.Dataset.Path, Seed: seed,
		NumPrompts: l.NumPrompts, IgnoreEOS: l.IgnoreEOS, Temperature: l.Sampling.Temperature, Settings: &l.Settings,
		Warmups:        l.Warmups,
		MaxConcurrency: Positive(l.MaxConcurrency), InputLen: Positive(l.InputLen), OutputLen: Positive(l.OutputLen),
		Compat: l.Compat, Tokenizer: l.Dataset.Tokenizer,
	}

	if l.Ramp.Strategy != "" {
		a.Ramp = &results.Ramp{
			Strategy: l.Ramp.Strategy, StartRPS: l.Ramp.Start, EndRPS: l.Ramp.End,
			Changes: []results.RateChange{},
		}
	}
	if l.Duration > 0 {
		a.SendForS = new(l.Duration.Seconds())
	}

	if len(l.Classes) > 0 {
		askClasses(&a, l)
	}

	a.RequestRate, a.Burstiness = finite(l.RequestRate), finite(l.Burstiness)
	return a
}

// askClasses replaces what a load says about its requests by what is true of those of
// all classes.
func askClasses(a *results.Asked, l scenarios.Load) {
	first := &l.OfClass[0]
	a.Dataset, a.DatasetPath = first.Dataset.Kind, ""
	a.IgnoreEOS, a.Temperature = true, first.Sampling.Temperature
	a.InputLen, a.OutputLen = Positive(first.InputLen), Positive(first.OutputLen)

	for i := range l.OfClass {
		own := &l.OfClass[i]
		if own.Dataset.Kind != a.Dataset {
			a.Dataset = "mixture"
		}
		if a.InputLen != nil && *a.InputLen != own.InputLen {
			a.InputLen = nil
		}
		if a.OutputLen != nil && *a.OutputLen != own.OutputLen {
			a.OutputLen = nil
		}
		if a.Temperature != nil && (own.Sampling.Temperature == nil || *own.Sampling.Temperature != *a.Temperature) {
			a.Temperature = nil
		}
		a.IgnoreEOS = a.IgnoreEOS && own.IgnoreEOS
	}
}

// finite is nil for the infinite values of a load point, which JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Positive is nil for 0, which means "not asked" in a load point.
func Positive(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// A step for which the scenario sets no deadline may take usualLimit, or that many
// times its estimate where that is longer: a server that sends without end must
// not hold up a run for ever.
const (
	usualLimit    = 6 * time.Hour
	timesEstimate = 10
)

// StepLimit is how long a step may take once its servers are up, and whether the
// scenario says so (deadlines.step).
func StepLimit(sc *scenarios.Scenario, s Step) (limit time.Duration, asked bool) {
	if sc.StepDeadline > 0 {
		return sc.StepDeadline, true
	}
	return max(usualLimit, time.Duration(timesEstimate*s.EstimateS*float64(time.Second))), false
}

// LimitNote says which limit steps have without a deadline of their own.
func LimitNote() string {
	return "a step is ended after 6 h, or ten times its estimate if that is longer; deadlines.step sets another limit"
}

// StartTimes are the seconds that the last launches of a plan's variants took,
// by the journal of a run of such a plan.
func (p *Plan) StartTimes(events []results.Event) map[string]float64 {
	variant := map[string]string{} // by life
	for _, life := range p.Lives {
		variant[life.ID] = life.Variant
	}

	spawned, took := map[string]time.Time{}, map[string]float64{}
	for _, e := range events {
		id, number, again := strings.Cut(e.Life, ".") // "01-a.2" is the second of that name
		if _, err := strconv.Atoi(number); again && err != nil || variant[e.Life] != "" {
			id = e.Life
		}
		switch e.Kind {
		case results.LifeSpawned:
			if e.Replica == 0 {
				spawned[e.Life] = e.Time
			}
		case results.LifeReady:
			if began, ok := spawned[e.Life]; ok && variant[id] != "" {
				took[variant[id]] = e.Time.Sub(began).Seconds() // of all replicas, up to the last one
			}
		default: // says nothing about a start
		}
	}

	return took
}
