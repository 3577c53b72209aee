// Package harness turns a scenario into a plan of steps and carries the plan
// out: launch, wait, load, measure, tear down, next.
//
// What goes in: a scenarios.Scenario, the facts of the machine, a launcher and a
// driver. What comes out: a Plan, and a results folder that holds whatever
// happened. It speaks no HTTP, starts no process itself, prints nothing, and
// renders no report.
package harness

import (
	"context"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// Programs starts programs that run to their end.
type Programs interface {
	// Start returns when the program runs, or a *results.Failure that says why
	// it does not. After a failure nothing of it is left.
	Start(ctx context.Context, kind engines.Kind, spec recipe.Spec) (Program, error)
}

// Program is a program that runs, or has ended.
type Program interface {
	Info() results.Server
	// Done is closed when it has ended, or shows no sign of life any more.
	Done() <-chan struct{}
	// Failure says why it has not ended well; nil if it has, and before.
	Failure() *results.Failure
	// OwnPIDs are its living processes.
	OwnPIDs() []int
	// Stop ends what is left of it and proves that all of it is gone.
	Stop(ctx context.Context) (results.Proof, error)
}
