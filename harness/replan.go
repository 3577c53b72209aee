package harness

import (
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// pace is what a run has learned of its own speed.
type pace struct {
	steps    map[string]float64 // variant and point -> seconds of its last step
	starts   map[string]float64 // variant -> seconds of its last start and stop
	busy     float64            // seconds of all steps, whatever became of them
	took     float64            // seconds of the measured ones
	foreseen float64            // the plan's estimate of the same
}

func newPace() *pace { return &pace{steps: map[string]float64{}, starts: map[string]float64{}} }

func (p *pace) step(s plan.Step, took time.Duration, measured bool) {
	p.busy += took.Seconds()
	if !measured {
		return
	}
	p.steps[s.Variant+"\x00"+s.Point] = took.Seconds()
	p.took += took.Seconds()
	p.foreseen += s.EstimateS
}

// started notes the time of a life that was not spent in steps.
func (p *pace) started(variant string, took time.Duration) { p.starts[variant] = took.Seconds() }

// ofStep is how long a step will take: as the same one of another repeat did,
// else the plan's estimate, put right by how far off that was so far.
func (p *pace) ofStep(s plan.Step) float64 {
	if seconds, ok := p.steps[s.Variant+"\x00"+s.Point]; ok {
		return seconds
	}
	if p.foreseen > 0 {
		return s.EstimateS * p.took / p.foreseen
	}
	return s.EstimateS
}

func (p *pace) ofLife(l plan.Life) float64 {
	if seconds, ok := p.starts[l.Variant]; ok {
		return seconds
	}
	return l.EstimateS
}

// fit takes out of pending what the run has no time for, with the reason. A
// repeat is begun only if it can be ended, for all variants, together with the
// repeats before it; else it and all after it are left out. The first is never:
// the run's deadline itself ends it.
func (r *Runner) fit(pending []attempt, life plan.Life, up bool) (left, dropped []attempt, why *results.Failure) {
	if r.deadline.IsZero() || len(pending) == 0 {
		return pending, nil, nil
	}
	next := pending[0].Repeat
	if r.dropFrom == 0 && next > 1 && r.pace.took > 0 {
		need := r.need(next, life, up)
		if have := time.Until(r.deadline).Seconds(); need > have && r.worthDropping(next) {
			r.dropFrom = next
			r.dropWhy = results.Failf(results.FailDeadline, "repeats from %d on are left out: with them the rest would take about %s, and %s are left of the run's deadline of %s",
				next, seconds(need), seconds(have), r.Scenario.RunDeadline)
		}
	}
	if r.dropFrom == 0 {
		return pending, nil, nil
	}
	for _, a := range pending {
		if a.Repeat >= r.dropFrom {
			dropped = append(dropped, a)
		} else {
			left = append(left, a)
		}
	}
	return left, dropped, r.dropWhy
}

// need is the time for all steps up to a repeat that have no verdict yet.
func (r *Runner) need(repeat int, current plan.Life, up bool) float64 {
	total := 0.0
	for _, life := range r.Plan.Lives {
		open := false
		for _, step := range life.Steps {
			if step.Repeat <= repeat && !r.settled[step.ID] {
				total += r.pace.ofStep(step)
				open = true
			}
		}
		if running := up && life.ID == current.ID; open && !running {
			total += r.pace.ofLife(life)
		}
	}
	return total
}

// worthDropping reports whether leaving out a repeat is fair or of use: none of
// its steps has been run, or steps of repeats before it wait for the time.
func (r *Runner) worthDropping(repeat int) bool {
	begun, waiting := false, false
	for _, life := range r.Plan.Lives {
		for _, step := range life.Steps {
			begun = begun || step.Repeat == repeat && r.settled[step.ID]
			waiting = waiting || step.Repeat < repeat && !r.settled[step.ID]
		}
	}
	return !begun || waiting
}

func seconds(s float64) time.Duration {
	return max(0, time.Duration(s*float64(time.Second)).Round(time.Second))
}
