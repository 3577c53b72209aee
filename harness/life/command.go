package life

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
)

// writeCommands leaves the command of each server in the life's folder, as
// text to paste into a shell. It is for reading: nothing of ours runs it.
func (s *Starter) writeCommands(life string, servers []plan.PlannedServer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", plan.HygieneNote())
	for _, server := range servers {
		for _, p := range server.Beside {
			fmt.Fprintf(&b, "%s   # %s\n", p.CommandLine(), p.Note())
		}
		if len(server.Unset) > 0 {
			fmt.Fprintf(&b, "# and not %s\n", strings.Join(server.Unset, " "))
		}
		fmt.Fprintln(&b, plan.CommandLine(server))
	}

	if err := s.Folder.WriteFile("lives/"+life+"/"+results.CommandName, []byte(b.String())); err != nil {
		return results.WriteFailure(err)
	}

	return nil
}
