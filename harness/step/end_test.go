package step

import (
	"context"
	"testing"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Whoever watches a pass can end it, and the reason is that of the pass. A
// context of no pass ends nothing.
func TestEndOfAWatchedPass(t *testing.T) {
	ctx, _, free := guardProgress(t.Context(), scenarios.Watchdog{})
	defer free()

	End(t.Context(), results.Failf(results.FailGPU, "nobody's"))
	if ctx.Err() != nil {
		t.Fatal("a pass ended with another context")
	}

	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	End(inner, results.Failf(results.FailGPU, "too hot"))
	if failure := FailureOf(ctx, nil); failure == nil || failure.Class != results.FailGPU ||
		failure.Message != "too hot" {
		t.Errorf("the pass ended for %v, want what its watcher said", failure)
	}
}
