package versus

import (
	"fmt"
	"strconv"

	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// StepResults are the results of a run's steps, in the order of its plan.
func StepResults(run *results.Run) []*results.Result {
	all := make([]*results.Result, len(run.Steps))
	for i, s := range run.Steps {
		all[i] = s.Result
	}
	return all
}

// AnyRepeats reports whether a cell has more than one step.
func AnyRepeats(cells []compare.Cell) bool {
	for _, c := range cells {
		if len(c.Steps) > 1 {
			return true
		}
	}
	return false
}

// IsSimulated reports whether a step of a cell is simulated.
func IsSimulated(c compare.Cell) bool {
	for _, r := range c.Steps {
		if r.Simulated {
			return true
		}
	}
	return false
}

// AnySimulated reports whether a step of a run is simulated.
func AnySimulated(run *results.Run) bool {
	for _, s := range run.Steps {
		if s.Result.Simulated {
			return true
		}
	}
	return false
}

// AllSimulated says that no step with figures is real.
func AllSimulated(run *results.Run) bool {
	for _, s := range run.Steps {
		if s.Result.Figures != nil && !s.Result.Simulated {
			return false
		}
	}
	return true
}

// ExtrapolationOf is that of a cell's counted steps; null: they are measured.
func ExtrapolationOf(c compare.Cell) *results.Extrapolation {
	for _, r := range c.Counted {
		if r.Extrapolated != nil {
			return r.Extrapolated
		}
	}
	return nil
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
