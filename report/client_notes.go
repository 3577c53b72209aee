package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/results"
)

// clientNotes say how far the load client can have moved the figures of a run, the
// most of all its steps, and how the machine's cores were fought for.
func clientNotes(run *results.Run) []string {
	type worst struct {
		bound detail.Bound
		step  string
	}

	var order, tails []string
	most := make(map[string]worst)
	for _, s := range run.Steps {
		if s.Result.Figures == nil {
			continue
		}
		tails = append(tails, metrics.PercentileName(metrics.TailOf(s.Result.Figures.E2EL)))
		for _, l := range detail.ClientBounds(s.Result.Figures) {
			for _, b := range l.Figures {
				name := b.Name + " " + l.Name
				known, ok := most[name]
				if !ok {
					order = append(order, name)
				}
				if !ok || b.AtMost > known.bound.AtMost {
					most[name] = worst{b, s.Result.Step.ID}
				}
			}
		}
	}

	var parts []string
	for _, name := range order {
		stat, _, _ := strings.Cut(name, " ")
		if w := most[name]; stat == "median" || slices.Contains(tails, stat) {
			parts = append(parts, fmt.Sprintf("%s %s ms (%s)", name, w.bound.Text(), text.Clean(w.step)))
		}
	}

	var lines []string
	if parts != nil {
		lines = append(lines, "The load client may have changed the figures of a step by at most: "+
			strings.Join(parts, ", ")+
			".")
	}
	return append(lines, contentionNotes(run)...)
}

// notedPressure is the share of a pass from which waiting for cores is noted.
const notedPressure = 0.1

// contentionNotes name the step during which tasks waited for cores the most, and
// the one of which the hypervisor took the most.
func contentionNotes(run *results.Run) []string {
	var pressed, stolen *results.Result
	share := func(r *results.Result) float64 {
		if r == nil || r.Client == nil || r.Client.CPUPressureS == nil || r.Client.DurationS <= 0 {
			return 0
		}
		return min(*r.Client.CPUPressureS/r.Client.DurationS, 1)
	}
	steal := func(r *results.Result) float64 {
		if r == nil || r.Client == nil || r.Client.StealS == nil {
			return 0
		}
		return *r.Client.StealS
	}
	for _, s := range run.Steps {
		if share(s.Result) > share(pressed) {
			pressed = s.Result
		}
		if steal(s.Result) > steal(stolen) {
			stolen = s.Result
		}
	}

	var lines []string
	if s := share(pressed); s >= notedPressure {
		lines = append(lines,
			fmt.Sprintf("Programs waited for a CPU core (PSI), most of all in step %s: during %.0f %% of the "+
				"pass.", text.Clean(pressed.Step.ID), 100*s))
	}
	if s := steal(stolen); s > 0 {
		lines = append(lines,
			fmt.Sprintf("The hypervisor took CPU time from the machine (steal), most of all in step %s: "+
				"%.2f s.", text.Clean(stolen.Step.ID), s))
	}
	return lines
}
