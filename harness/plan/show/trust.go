package show

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/scenarios"
)

// Limits says before a run what will limit the trust in its figures, and what
// would help. It goes by the scenario alone: nothing was measured yet.
func Limits(sc *scenarios.Scenario, p *plan.Plan, machine plan.Machine) []string {
	lines := deadlines(sc, p)
	if !sc.Method.SendsRequests() {
		return lines
	}

	lines = append(lines, fewPrompts(sc)...)
	lines = append(lines, fewRepeats(sc)...)
	return append(lines, sharedCores(sc, machine)...)
}

// fewPrompts lists load points that send too few requests for the highest
// percentile that is reported. Points that send for a time are left out: how
// many requests they come to is not known.
func fewPrompts(sc *scenarios.Scenario) []string {
	needs := map[float64][]string{} // points by percentile
	for _, l := range sc.Points {
		if l.Duration > 0 || len(l.Percentiles) == 0 {
			continue
		}
		top := slices.Max(l.Percentiles)
		if want := metrics.SamplesFor(top); want > 0 && l.NumPrompts < want && !slices.Contains(needs[top], l.Label) {
			needs[top] = append(needs[top], fmt.Sprintf("%s (%d)", l.Label, l.NumPrompts))
		}
	}

	var lines []string
	for _, top := range sortedKeys(needs) {
		lines = append(lines, fmt.Sprintf(
			"p%g needs %d requests, more than these points send: %s; raise num-prompts, or expect p%g to be marked ~",
			top, metrics.SamplesFor(top), text.Few(needs[top]), top))
	}

	return lines
}

func sortedKeys(m map[float64][]string) []float64 {
	var keys []float64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fewRepeats warns where variants are compared by too few server starts.
func fewRepeats(sc *scenarios.Scenario) []string {
	const enough = 3
	if len(sc.Variants) < 2 || sc.Repeats >= enough {
		return nil
	}
	if sc.Repeats == 1 {
		return []string{"repeats: 1 gives no interval, so no variant can be called better than another; use " +
			"repeats: 3 or more"}
	}
	return []string{fmt.Sprintf("repeats: %d gives wide intervals: only large differences between variants can be "+
		"detected",
		sc.Repeats)}
}

// sharedCores warns where servers compute, or are simulated, on the cores that the
// load client uses.
func sharedCores(sc *scenarios.Scenario, machine plan.Machine) []string {
	if machine.GPUs > 0 || sc.Client.Elsewhere() || sc.On == scenarios.OnSlurm { // GPUs of nodes are not known
		return nil
	}

	var names []string
	for _, v := range sc.Variants {
		kind, ok := engines.Lookup(v.Server.Launcher)
		if ok && !kind.External {
			names = append(names, v.Name)
		}
	}

	if len(names) == 0 {
		return nil
	}

	return []string{fmt.Sprintf(
		"without a GPU the servers of %s run on the same cores as the load client: latencies include its share, and "+
			"steps may become suspect (client-limit, client-late); client: with another host avoids that",
		text.Few(names))}
}
