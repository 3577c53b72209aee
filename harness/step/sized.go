package step

import (
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// sized is a load point on a server, whose longest context may decide how long
// prompts are; the result notes the length.
func sized(point scenarios.Load, server Server, result *results.Result) (scenarios.Load, error) {
	longest := 0
	if startup := server.Info().Startup; startup != nil && startup.ContextLen != nil {
		longest = int(*startup.ContextLen)
	}
	l, err := point.For(longest)
	if err != nil {
		return l, results.Failf(results.FailDataset, "%v", err)
	}
	result.Asked.InputLen = plan.Positive(l.InputLen)
	return l, nil
}
