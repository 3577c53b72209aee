package harness

import (
	"context"

	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/results"
)

// newStarter is what starts and stops the servers of the run.
func (r *Runner) newStarter() *life.Starter {
	return &life.Starter{
		Scenario: r.Scenario, Box: r.Box, Folder: r.Folder, Launcher: r.Launcher, Cookie: r.Cookie, Live: r.Live,
		Observe: r.observeLife, Halt: r.halt,
	}
}

// observeLife tells of servers: of those that stop as part of what is done, of
// others as part of the step to come.
func (r *Runner) observeLife(u status.Update) {
	u.Index = r.done + 1
	if u.Kind == status.LifeStopping || u.Kind == status.LifeEnded {
		u.Index = r.done
	}
	r.observe(u)
}

// halt ends the run after what is under way. Where the disk is full, what was
// kept aside makes room for the last results.
func (r *Runner) halt(why *results.Failure) {
	if why.Class == results.FailDisk {
		r.disk.useReserve()
	}
	r.halted.set(why)
}

// launch starts the servers of a life for the pending steps. The user may skip
// the launch.
func (r *Runner) launch(ctx context.Context, planned plan.Life, id string, pending []attempt) ([]step.Server, *results.Failure) {
	first := pending[0]
	r.Live.BeginLife(first.StepRef, first.pass, id, len(pending))
	r.Live.Enter(results.LiveLaunching, r.Scenario.Variants[planned.VariantIndex].Server.Ready.Timeout, "")
	endReading := r.monitor.WatchLaunch(ctx)
	defer endReading()
	ctx, leave := r.Control.skippable(ctx, "the launch of "+planned.Variant)
	defer leave()

	r.preparer.NewServers()
	return r.starter.Launch(ctx, life.Order{Life: planned, ID: id, Step: first.StepRef, Pass: first.pass, Ports: first.ports})
}
