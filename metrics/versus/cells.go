package versus

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// AnyRepeats reports whether a cell has more than one step.
func AnyRepeats(cells []compare.Cell) bool {
	return slices.ContainsFunc(cells, func(c compare.Cell) bool { return len(c.Steps) > 1 })
}

// ExtrapolatedText says what an extrapolation did.
func ExtrapolatedText(e results.Extrapolation) string {
	share := "without a cap on concurrency"
	if e.Share > 0 {
		share = "with a max concurrency of " + strconv.Itoa(e.Share)
	}
	return fmt.Sprintf("extrapolated x%d: one of %d replicas ran, %s; durations are divided and rates multiplied by "+
		"%d, latencies are that replica's", e.Factor, e.Factor, share, e.Factor)
}
