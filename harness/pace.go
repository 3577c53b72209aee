package harness

import (
	"time"

	"github.com/benchrig/bench/harness/plan"
)

// pace is what a run has learned of its own speed.
type pace struct {
	measured map[string]float64 // seconds of the last measured step, by variant and point
	failed   map[string]float64 // seconds of the last failed step, by variant and point
	starts   map[string]float64 // seconds of the last start and stop, by variant
	broken   map[string]bool    // variants whose last start failed
	busy     float64            // seconds of all steps, whatever became of them
	took     float64            // seconds of the measured ones
	foreseen float64            // the plan's estimate of these
}

func newPace() *pace {
	return &pace{
		measured: map[string]float64{}, failed: map[string]float64{},
		starts: map[string]float64{}, broken: map[string]bool{},
	}
}

// step takes in how long a step took on servers that were up.
func (p *pace) step(s plan.Step, took time.Duration, measured bool) {
	p.busy += took.Seconds()
	if !measured {
		p.failed[paceKey(s)] = took.Seconds()
		return
	}
	p.measured[paceKey(s)] = took.Seconds()
	p.took += took.Seconds()
	p.foreseen += s.EstimateS
}

// started takes in the time of a server start that was not spent in steps.
func (p *pace) started(variant string, took time.Duration) {
	p.starts[variant], p.broken[variant] = took.Seconds(), false
}

// startFailed takes in how long it took until servers did not come up.
func (p *pace) startFailed(variant string, took time.Duration) {
	p.starts[variant], p.broken[variant] = took.Seconds(), true
}

// knows reports whether anything has been learned.
func (p *pace) knows() bool { return p.took > 0 || len(p.starts) > 0 }

// ofStep is how long a step will take, in seconds: as the same one of another
// repeat did, else the plan's estimate, put right by how far off that was so
// far. Where the variant's servers did not come up, its steps cost nothing.
func (p *pace) ofStep(s plan.Step) float64 {
	if p.broken[s.Variant] {
		return 0
	}
	if seconds, ok := p.measured[paceKey(s)]; ok {
		return seconds
	}
	if seconds, ok := p.failed[paceKey(s)]; ok {
		return seconds
	}
	if p.foreseen > 0 {
		return s.EstimateS * p.took / p.foreseen
	}
	return s.EstimateS
}

// ofLife is how long the servers of a life will take to start and stop.
func (p *pace) ofLife(l plan.Life) float64 {
	if seconds, ok := p.starts[l.Variant]; ok {
		return seconds
	}
	return l.EstimateS
}

func paceKey(s plan.Step) string { return s.Variant + "\x00" + s.Point }

// seconds is a number of seconds for people.
func seconds(s float64) time.Duration {
	return max(0, time.Duration(s*float64(time.Second)).Round(time.Second))
}
