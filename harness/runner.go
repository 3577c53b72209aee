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

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Journal takes down what happens; an event is on disk when Append returns nil.
type Journal interface {
	Append(e results.Event) error
}

// Runner carries out a plan, step by step, into a results folder.
type Runner struct {
	Scenario  *scenarios.Scenario
	Plan      *plan.Plan
	Machine   plan.Machine
	Folder    *store.Folder
	Journal   Journal
	Launcher  life.Launcher
	Programs  Programs // nil: the method must not run a program
	Driver    step.Driver
	Hooks     hooks.Program        // nil: the scenario must have no hooks and checks
	Notifier  Notifier             // nil: nobody is told
	Telemetry telemetry.Source     // nil: GPUs and host are not sampled
	Nodes     telemetry.NodeSource // the other nodes of servers; nil: they are not sampled
	Resume    *Resume              // nil: the run starts
	// Free is the number of bytes free at a path; nil asks the file system.
	Free    func(path string) (int64, error)
	Observe func(status.Update) // nil: nobody watches
	Live    *status.Live        // nil: nobody learns what happens between updates; started by whoever made it
	Control *Control            // nil: nobody ends parts of the run
	Version string              // of this program, for result.json
	RunID   string
	Node    string // name of this machine
	Cookie  string // marks the processes of this run
	// Doubts are about the machine, and so about every step on it.
	Doubts []results.Warning
}

// Run carries out the plan. It ends early only when ctx does or when the machine
// cannot be brought back; whatever is not run then is recorded as not run. The
// error is about the record keeping itself.
func (r *Runner) Run(ctx context.Context) (Outcome, error) { return newRun(r).all(ctx) }

// anyDead reports whether a server has ended or cannot continue.
func anyDead(servers []step.Server) bool {
	for _, s := range servers {
		select {
		case <-s.Done():
			return true
		default:
		}
	}
	return false
}

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
