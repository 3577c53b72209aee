package harness

import (
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// budget foresees how long the rest of a run will take, and leaves out the
// repeats for which its deadline has no time.
type budget struct {
	plan     *plan.Plan
	ledger   *ledger
	decider  *decider
	pace     *pace
	deadline time.Time // of the run; zero: none
	limit    string    // where it comes from, in words
	until    string    // of the scenario, if that is where it comes from
	strict   bool      // nothing is begun that would not be ended by the deadline

	dropFrom int // repeats from this one on are left out; 0: none
	dropWhy  *results.Failure
}

// fit takes out of pending what the run has no time for, with the reason. A
// repeat is begun only if it can be ended, for all variants, together with the
// repeats before it; else it and all after it are left out. The first repeat
// always runs: the run's deadline itself ends it. up says that the servers of
// life are up.
func (b *budget) fit(pending []attempt, life plan.Life, up bool) (left, dropped []attempt, why *results.Failure) {
	if b.deadline.IsZero() || len(pending) == 0 {
		return pending, nil, nil
	}

	if b.strict {
		if pending, dropped, why = b.fitStrictly(pending, life, up); len(dropped) > 0 {
			return pending, dropped, why
		}
	}

	next := pending[0].Repeat
	if b.dropFrom == 0 && next > 1 && b.pace.knows() {
		need, have := b.need(next, life, up), time.Until(b.deadline).Seconds()
		if need > have && b.worthDropping(next) {
			b.dropFrom = next
			b.dropWhy = b.late(
				"repeats from %d on are left out: the rest would take about %s with them, and %s are left of %s",
				next, seconds(need), seconds(have), b.limit)
		}
	}

	if b.dropFrom == 0 {
		return pending, nil, nil
	}

	for _, a := range pending {
		if a.Repeat >= b.dropFrom {
			dropped = append(dropped, a)
		} else {
			left = append(left, a)
		}
	}

	return left, dropped, b.dropWhy
}

// fitStrictly leaves out the steps that would end after the deadline, each by itself
// after what must come before it: the start of their servers.
func (b *budget) fitStrictly(pending []attempt, life plan.Life, up bool) (left, dropped []attempt,
	why *results.Failure,
) {
	have, start := time.Until(b.deadline).Seconds(), 0.0
	if !up {
		start = b.pace.ofLife(life)
	}
	for _, a := range pending {
		need := start + b.pace.ofStep(a.Step)
		if need <= have {
			left = append(left, a)
			continue
		}
		dropped = append(dropped, a)
		if why == nil {
			why = b.late("not started: it would take about %s, and %s are left of %s",
				seconds(need), seconds(have), b.limit)
		}
	}
	return left, dropped, why
}

// late is the failure of what the deadline leaves no time for.
func (b *budget) late(format string, args ...any) *results.Failure {
	f := results.Failf(results.FailDeadline, format, args...)
	f.Until = b.until
	return f
}

// need is the time in seconds for all steps up to a repeat that have no verdict
// yet and will run, as far as is known now.
func (b *budget) need(repeat int, current plan.Life, up bool) float64 {
	total, searched := 0.0, b.searchSteps()
	for _, life := range b.plan.Lives {
		open := b.open(life, repeat, searched)
		for _, step := range open {
			total += b.pace.ofStep(step)
		}
		if running := up && life.ID == current.ID; len(open) > 0 && !running {
			total += b.pace.ofLife(life)
		}
	}
	return total
}

// open lists the steps of a life up to a repeat that will run, as far as can be
// told now.
func (b *budget) open(life plan.Life, repeat int, searched map[string]int) []plan.Step {
	var open []plan.Step
	for _, step := range life.Steps {
		if step.Repeat > repeat || b.ledger.decided[step.ID] {
			continue
		}
		if n := searched[step.Variant]; n > 0 && step.PointIndex >= n {
			continue // the search will have ended
		}
		if b.decider.decide(step).notNeeded == nil {
			open = append(open, step)
		}
	}
	return open
}

// searchSteps is how many steps the search of a repeat takes, by variant, as
// those that have ended did; of a variant without one, as those of others did.
func (b *budget) searchSteps() map[string]int {
	if b.decider.scenario.Search.Metric == "" {
		return nil
	}

	type search struct {
		variant string
		repeat  int
	}

	ran, waiting := map[search]int{}, map[search]bool{}
	for _, life := range b.plan.Lives {
		for _, step := range life.Steps {
			key := search{step.Variant, step.Repeat}
			if b.ledger.results[step.ID] != nil {
				ran[key]++
			}
			waiting[key] = waiting[key] || !b.ledger.decided[step.ID]
		}
	}

	most, longest := map[string]int{}, 0
	for key, n := range ran {
		if !waiting[key] {
			most[key.variant] = max(most[key.variant], n)
			longest = max(longest, n)
		}
	}

	for key := range waiting {
		if most[key.variant] == 0 {
			most[key.variant] = longest
		}
	}

	return most
}

// worthDropping reports whether leaving out a repeat is fair or of use: none of
// its steps has been run, or steps of repeats before it wait for the time.
func (b *budget) worthDropping(repeat int) bool {
	begun, waiting := false, false
	for _, life := range b.plan.Lives {
		for _, step := range life.Steps {
			begun = begun || step.Repeat == repeat && b.ledger.decided[step.ID]
			waiting = waiting || step.Repeat < repeat && !b.ledger.decided[step.ID]
		}
	}
	return !begun || waiting
}

// outlook is how long what runs now will take, and all else after it, in
// seconds: the start of a life's servers, or a step on servers that are up.
func (b *budget) outlook(current plan.Life, now *plan.Step, up bool) (expected, rest float64) {
	const all = 1 << 30 // repeats
	searched := b.searchSteps()
	for _, life := range b.plan.Lives {
		open := b.open(life, all, searched)
		for _, step := range open {
			if now != nil && step.ID == now.ID {
				expected = b.pace.ofStep(step)
			} else {
				rest += b.pace.ofStep(step)
			}
		}

		switch {
		case len(open) == 0 || up && life.ID == current.ID:
		case life.ID == current.ID:
			expected = b.pace.ofLife(life)
		default:
			rest += b.pace.ofLife(life)
		}
	}

	return expected, rest
}
