package report

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/results"
)

// headline is the text above everything else.
type headline struct {
	title, about, description string
	sets                      string // the --set overrides; "": none
	simulated                 string // "": no figure is simulated
	counts                    string
	unfinished                string // "": the run came to its end
}

func headlineOf(run *results.Run) headline {
	m := run.Manifest
	h := headline{
		title:       fmt.Sprintf("%s, run %s", text.Clean(m.Scenario), text.Clean(m.Run)),
		about:       fmt.Sprintf("bench %s, started %s", text.Clean(m.Bench), text.Clean(m.StartedAt)),
		description: text.Clean(m.Description),
		counts:      text.Count(len(run.Steps), "step") + ": " + differences.CountSteps(run) + notNeededCount(run),
	}

	if m.Imported != nil {
		h.about = importedAbout(m)
	}

	if len(m.Sets) > 0 {
		h.sets = "with --set " + text.Clean(strings.Join(m.Sets, " --set "))
	}

	if m.Simulated || run.AnySimulated() {
		h.simulated = grid.SimulatedLine
		if !run.AllSimulated() {
			h.simulated += " (the rows marked" + grid.Simulated + ")"
		}
	}

	if !run.Finished {
		h.unfinished = "The run is not finished: its journal has no end. Results so far are below."
	}

	return h
}
