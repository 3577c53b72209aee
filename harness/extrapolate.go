package harness

import (
	"fmt"

	"github.com/benchrig/bench/results"
)

// extrapolate adds to a measured step what it would be for all the replicas
// that the one stands for. What was measured stays as it is.
func (r *Runner) extrapolate(result *results.Result) {
	n := r.variant(result.Step.Variant).Extrapolate
	if n <= 1 || result.Figures == nil {
		return
	}
	share, load := 0, "without a cap on concurrency"
	if c := result.Asked.MaxConcurrency; c != nil {
		share, load = *c, fmt.Sprintf("with a max concurrency of %d", *c)
	}
	result.Extrapolated = results.Extrapolate(*result.Figures, n, share)
	result.Warnings = append(result.Warnings, results.Warning{
		Code: results.WarnExtrapolated,
		Message: fmt.Sprintf("one of %d replicas ran, %s, with idle neighbours and a client for itself; rates multiplied by %d and a duration divided by it are extrapolated, not measured",
			n, load, n),
	})
}
