package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// launch starts the servers of a life, one after the other: engines that
// start at once race for internal ports and compile caches. If one does not
// come up, those that did are stopped.
func (r *Runner) launch(ctx context.Context, life plan.Life, id string, pending []attempt) ([]step.Server, *results.Failure) {
	first := pending[0].StepRef
	r.observe(status.Update{Kind: status.LifeLaunching, Index: r.done + 1, Life: id, Step: first, Pass: pending[0].pass})
	ctx, leave := r.enterLaunch(ctx, life, id, pending)
	defer leave()
	r.life.Store(id)
	r.sent = step.NewSentTo()
	v := r.Scenario.Variants[life.VariantIndex]
	kind, specs, problem, err := plan.Recipes(r.Scenario, v, r.Box)
	if err == nil && problem != "" {
		err = results.Failf(results.FailNoGPU, "%s", problem)
	}
	if err == nil {
		err = r.writeCommands(id, life.Servers)
	}
	var servers []step.Server
	var taken []int // ports of the replicas before
	for _, spec := range specs {
		if err != nil {
			break
		}
		spec.Life, spec.Cookie, spec.Told = id, r.Cookie, r.Live.Stand
		spec.LogPath = filepath.Join(r.Folder.LifeDir(id), fmt.Sprintf("server-%d.log", spec.Replica))
		if spec.TLS, _, err = step.TLSConfig(v.Server.TLS.CA, v.Server.TLS.Insecure); err != nil {
			break
		}
		if pending[0].ports != nil {
			spec.Port = pending[0].ports[spec.Replica]
		} else if err = choosePort(ctx, kind, &spec, v.Server.Port, taken); err != nil {
			break
		}
		taken = append(taken, spec.Port)
		var server step.Server
		if server, err = r.Launcher.Launch(ctx, kind, spec); err == nil {
			servers = append(servers, server)
		}
	}
	if err != nil {
		failure := skippedOr(ctx, results.AsFailure(err, results.FailBadRecipe))
		if failure.Class == results.FailNoProof {
			r.halted = failure // the box is not clean
		}
		if r.stop(ctx, id, servers); len(servers) == 0 {
			r.closeLife(id, !r.unclean())
		}
		r.observe(status.Update{Kind: status.LifeFailed, Index: r.done + 1, Life: id, Step: first, Pass: pending[0].pass, Failure: failure})
		return nil, failure
	}
	r.observe(status.Update{Kind: status.LifeReady, Index: r.done + 1, Life: id, Step: first, Pass: pending[0].pass, Servers: step.Infos(servers)})
	return servers, nil
}

// choosePort keeps a port that the scenario names and otherwise takes the
// first free one from the launcher's default on.
func choosePort(ctx context.Context, kind engines.Kind, spec *recipe.Spec, asked int, taken []int) error {
	if kind.External || asked != 0 {
		return nil
	}
	port, err := ports.Find(ctx, spec.Host, spec.Port, taken)
	if err != nil {
		return results.Failf(results.FailPortInUse, "%v", err)
	}
	spec.Port = port
	return nil
}

// stop ends servers at the same time and proves that they are gone. It works
// after ctx has ended. A server that cannot be proven gone halts the run: the
// next one would be measured beside it.
func (r *Runner) stop(ctx context.Context, id string, servers []step.Server) {
	if len(servers) == 0 {
		return
	}
	r.observe(status.Update{Kind: status.LifeStopping, Life: id, Index: r.done})
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { _, errs[i] = s.Stop(context.WithoutCancel(ctx)) })
	}
	wg.Wait()
	ended := status.Update{Kind: status.LifeEnded, Life: id, Index: r.done}
	err := errors.Join(errs...)
	r.closeLife(id, err == nil && !r.unclean())
	if err != nil {
		r.halted = results.AsFailure(err, results.FailNoProof)
		ended.Failure = r.halted
	}
	r.observe(ended)
}

// closeLife takes secrets out of the logs of an ended life and compresses
// them, unless a server may still write to them. If it cannot, the run is
// halted: it must not go on to write more of them.
func (r *Runner) closeLife(id string, gone bool) {
	r.life.Store("")
	var err error
	if gone {
		err = CloseLogs(r.Folder, id, r.Scenario.Disk.MaxLog, r.Scenario.Secrets)
	} else {
		err = redactLogs(r.Folder.LifeDir(id), r.Scenario.Secrets)
	}
	if err != nil {
		r.useReserve()
		r.halted = results.Failf(results.FailDisk, "%v", err)
	}
}

// unclean reports whether a server could not be proven gone.
func (r *Runner) unclean() bool { return r.halted != nil && r.halted.Class == results.FailNoProof }

// writeCommands leaves the command of each server in the life's folder, as
// text to paste into a shell. It is for reading: nothing of ours runs it.
func (r *Runner) writeCommands(life string, servers []plan.PlannedServer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", plan.HygieneNote())
	for _, s := range servers {
		for _, p := range s.Beside {
			fmt.Fprintf(&b, "%s   # %s\n", p.CommandLine(), p.Note())
		}
		if len(s.Unset) > 0 {
			fmt.Fprintf(&b, "# and not %s\n", strings.Join(s.Unset, " "))
		}
		fmt.Fprintln(&b, plan.CommandLine(s))
	}
	if err := r.Folder.WriteFile("lives/"+life+"/"+results.CommandName, []byte(b.String())); err != nil {
		return results.Failf(results.FailDisk, "%v", err)
	}
	return nil
}
