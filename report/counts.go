package report

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/results"
)

// countSteps counts by verdict; every verdict is named, so that no silence has
// to be interpreted.
func countSteps(run *results.Run) string {
	counts := make(map[string]int)
	for i := range run.Steps {
		counts[shortVerdict(&run.Steps[i])]++
	}
	var parts []string
	for _, name := range []string{string(results.OK), string(results.Suspect), string(results.Failed), interrupted, string(results.NotRun)} {
		if name != interrupted || counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(parts, ", ")
}
