package differences

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/results"
)

// CountSteps counts by verdict; every verdict is named, so that no silence has
// to be interpreted.
func CountSteps(run *results.Run) string {
	counts := make(map[string]int)
	for i := range run.Steps {
		counts[grid.ShortVerdict(&run.Steps[i])]++
	}
	var parts []string
	for _, name := range []string{
		string(results.OK), string(results.Suspect), string(results.Failed), grid.Interrupted,
		string(results.NotRun),
	} {
		if name != grid.Interrupted || counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(parts, ", ")
}
