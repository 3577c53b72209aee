package cluster

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/scenarios"
)

// ShowJobs prints the groups of a plan and the scripts that would be submitted. self
// is the path of this program.
func ShowJobs(w io.Writer, sc *scenarios.Scenario, p *plan.Plan, self string) error {
	groups := groupsOf(sc, p)
	fmt.Fprintf(w, "\n%s of a Slurm cluster, which plan again on their nodes:\n", text.Count(len(groups), "job"))
	for _, group := range groups {
		on := ""
		if group.Nodes > 1 {
			on = fmt.Sprintf(" on %d nodes", group.Nodes)
		}
		fmt.Fprintf(w, "  %s  %s: %s%s\n", group.ID, strings.Join(group.Lives, ", "),
			text.Count(len(group.Steps), "step"), on)
	}

	fmt.Fprint(w, "\nsubmitted with sbatch, as several arrays where the cluster allows fewer jobs in one:\n")
	for _, array := range arrays(groups, len(groups)) {
		script, err := scriptOf(sc, self, array)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s", text.Indent(strings.Split(strings.TrimSpace(script), "\n")))
	}
	return nil
}
