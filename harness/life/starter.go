// Package life starts the servers of a planned life, stops them with proof, and
// keeps their logs within bounds.
//
// What goes in: a planned life, the machine's facts, a launcher. What comes out:
// servers that have answered with a token, or a failure after which nothing of
// them is left; logs that are bounded, without secrets, and compressed once
// nothing writes to them. It sends no load and decides nothing about what runs
// next.
package life

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Launcher starts one server and returns when it has answered with a token,
// or a *results.Failure that says why it has not. After a failure nothing of
// the server is left.
type Launcher interface {
	Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error)
}

// Starter starts and stops the servers of a run.
type Starter struct {
	Scenario *scenarios.Scenario
	Machine  plan.Machine
	Folder   *store.Folder
	Launcher Launcher
	Cookie   string              // marks the processes of the run
	Live     *status.Live        // gets each step of a server's readiness; nil: nobody does
	Observe  func(status.Update) // gets what happens to the servers

	// Halt ends the run: a server could not be proven gone, or its log could not
	// be rewritten.
	Halt func(why *results.Failure)

	running atomic.Value // string: the life whose servers write logs; "": none
}

// Order asks for the servers of one planned life.
type Order struct {
	Life  plan.Life
	ID    string          // of the life's folder
	Step  results.StepRef // the first step that waits for the servers
	Pass  int             // 2: the second of a step with two
	Ports []int           // to take, one per replica; nil: the first free ones

	Env  map[string]string // variables of the servers beside those of their recipes; these win
	Poll time.Duration     // as recipe.Ready has it; 0: the usual

	// Again readies what the first server finds before it is tried on another port,
	// because the try before has changed it; nil: nothing.
	Again func() error
}

// Launch starts the servers one after the other: engines that start at once
// race for internal ports and compile caches. If one does not come up, those
// that did are stopped.
func (s *Starter) Launch(ctx context.Context, o Order) ([]step.Server, *results.Failure) {
	update := status.Update{Kind: status.LifeLaunching, Life: o.ID, Step: o.Step, Pass: o.Pass}
	s.Observe(update)

	servers, err := s.launchAll(ctx, o)
	if err == nil {
		update.Kind, update.Servers = status.LifeReady, step.Infos(servers)
		s.Observe(update)
		return servers, nil
	}

	failure := skippedOr(ctx, results.AsFailure(err, results.FailBadRecipe))
	clean := failure.Class != results.FailNoProof
	if !clean {
		s.Halt(failure)
	}
	if len(servers) > 0 {
		s.stop(ctx, o.ID, servers, clean)
	} else {
		s.Close(o.ID, clean)
	}

	update.Kind, update.Failure = status.LifeFailed, failure
	s.Observe(update)
	return nil, failure
}

// launchAll launches one replica after the other, up to the first that fails.
func (s *Starter) launchAll(ctx context.Context, o Order) (servers []step.Server, err error) {
	v := s.Scenario.Variants[o.Life.VariantIndex]
	recipes, problem, err := plan.Recipes(s.Scenario, v, s.Machine)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return nil, results.Failf(results.FailNoGPU, "%s", problem)
	}

	if err := s.Prepare(o.ID, o.Life.Servers); err != nil {
		return nil, err
	}
	tls, _, err := step.TLSConfig(v.Server.TLS.CA, v.Server.TLS.Insecure)
	if err != nil {
		return nil, err
	}

	var taken []int // ports of the servers before
	var peers []recipe.Peer
	for _, r := range recipes {
		spec := r.Spec
		spec.Life, spec.Cookie, spec.OnReadinessChange, spec.TLS = o.ID, s.Cookie, s.Live.SetStage, tls
		spec.LogPath = filepath.Join(s.Folder.LifeDir(o.ID), store.ServerLogName(spec.Replica))
		spec.Env, spec.Ready.Poll = WithVariables(spec.Env, o.Env), o.Poll
		fixed := r.FixedPort
		if o.Ports != nil {
			spec.Port, fixed = o.Ports[spec.Replica], true
		}
		if spec, err = meetPeers(ctx, spec, peers, taken); err != nil {
			return servers, err
		}

		again := o.Again
		if len(servers) > 0 {
			again = nil // it would change what the servers before use
		}
		server, port, err := s.launchOnPort(ctx, r.Kind, spec, fixed, taken, again)
		if err != nil {
			return servers, err
		}
		spec.Port = port
		peers, taken = append(peers, plan.PeerOf(spec)), append(taken, port)
		servers = append(servers, server)
	}
	return servers, nil
}

// WithVariables are variables with others over them.
func WithVariables(env, over map[string]string) map[string]string {
	all := make(map[string]string, len(env)+len(over))
	maps.Copy(all, env)
	maps.Copy(all, over)
	return all
}

// meetPeers informs a part of a server where those before it listen, and finds a free
// port at which it is found by them.
func meetPeers(ctx context.Context, spec recipe.Spec, before []recipe.Peer, taken []int) (recipe.Spec, error) {
	if spec.Component == "" {
		return spec, nil
	}

	spec.Peers = slices.DeleteFunc(slices.Clone(before), func(p recipe.Peer) bool {
		return p.Component == spec.Component
	})
	avoid := slices.Clone(taken)
	for _, p := range before {
		avoid = append(avoid, p.SideChannel)
	}
	port, err := findPort(ctx, spec, spec.SideChannel, avoid)
	if err != nil {
		return spec, results.Failf(results.FailPortInUse, "%v", err)
	}
	spec.SideChannel = port
	return spec, nil
}

// Prepare writes the commands of a life's servers into its folder. From now on
// their logs are kept within bounds, until Close.
func (s *Starter) Prepare(id string, servers []plan.PlannedServer) error {
	s.running.Store(id)
	return s.writeCommands(id, servers)
}

// Stop stops servers at the same time and proves that they are gone. It works
// after ctx has ended. A server that cannot be proven gone halts the run: the
// next one would be measured beside it.
func (s *Starter) Stop(ctx context.Context, id string, servers []step.Server) {
	if len(servers) > 0 {
		s.stop(ctx, id, servers, true)
	}
}

// stop is Stop. clean is false where another server of the life is known to be
// left, which may still write to its log.
func (s *Starter) stop(ctx context.Context, id string, servers []step.Server, clean bool) {
	s.Observe(status.Update{Kind: status.LifeStopping, Life: id})
	var err error
	for _, part := range slices.Backward(byComponent(servers)) {
		err = errors.Join(err, stopAtOnce(context.WithoutCancel(ctx), part))
	}

	stopped := status.Update{Kind: status.LifeEnded, Life: id}
	s.Close(id, err == nil && clean)
	if err != nil {
		stopped.Failure = results.AsFailure(err, results.FailNoProof)
		s.Halt(stopped.Failure)
	}
	s.Observe(stopped)
}

// byComponent are servers in groups that are stopped together: those of a part of
// the server, in the order of their start.
func byComponent(servers []step.Server) [][]step.Server {
	var groups [][]step.Server
	last := ""
	for i, server := range servers {
		component := server.Info().Component
		if i == 0 || component != last {
			groups = append(groups, nil)
		}
		last = component
		groups[len(groups)-1] = append(groups[len(groups)-1], server)
	}
	return groups
}

func stopAtOnce(ctx context.Context, servers []step.Server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, server := range servers {
		wg.Go(func() { _, errs[i] = server.Stop(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close takes secrets out of the logs of a life that has ended and compresses
// them, unless a server may still write to them (gone is false).
func (s *Starter) Close(id string, gone bool) {
	s.running.Store("")
	var err error
	if gone {
		err = CloseLogs(s.Folder, id, s.Scenario.Disk.MaxLog, s.Scenario.Secrets)
	} else {
		err = redactLogs(s.Folder.LifeDir(id), s.Scenario.Secrets)
	}
	if err != nil {
		s.Halt(results.WriteFailure(err))
	}
}

// portTries is how many ports a server is tried on. Another try begins up to portSpread
// above the last, so that two programs that took a port from each other part.
const (
	portTries  = 3
	portSpread = 100

	highestPort = 65535
)

// launchOnPort launches a server on the port that its recipe names, if that is
// fixed, or on the first free one from there on. Between the choice and the bind
// is the time in which a model loads: where somebody else takes the port
// meanwhile, another one is tried, after again unless that is nil.
func (s *Starter) launchOnPort(
	ctx context.Context, kind engines.Kind, spec recipe.Spec, fixed bool, taken []int, again func() error,
) (server step.Server, port int, err error) {
	avoid := slices.Clone(taken)
	for try := range portTries {
		if try > 0 && again != nil {
			if err := again(); err != nil {
				return nil, 0, results.WriteFailure(err)
			}
		}
		if !fixed {
			if spec.Port, err = findPort(ctx, spec, spec.Port, avoid); err != nil {
				return nil, 0, results.Failf(results.FailPortInUse, "%v", err)
			}
		}
		port = spec.Port
		server, err = s.Launcher.Launch(ctx, kind, spec)
		if err == nil || fixed || !portLost(err) {
			break
		}
		avoid = append(avoid, spec.Port)
		spec.Port = min(spec.Port+rand.IntN(portSpread), highestPort)
	}

	return server, port, err
}

// findPort is the first free port on the server's node, as far as can be seen.
func findPort(ctx context.Context, spec recipe.Spec, from int, avoid []int) (int, error) {
	if spec.Span.Away {
		return ports.FindElsewhere(ctx, spec.Reached(), from, avoid)
	}
	return ports.Find(ctx, spec.Host, from, avoid)
}

// portLost reports whether a start failed because somebody else has the port.
func portLost(err error) bool {
	failure, ok := errors.AsType[*results.Failure](err)

	return ok && (failure.Class == results.FailPortInUse || failure.Class == results.FailForeign)
}

// skippedOr is the user's skip where that ended ctx, else failure; a server
// that could not be proven gone is reported in any case.
func skippedOr(ctx context.Context, failure *results.Failure) *results.Failure {
	if ctx.Err() == nil || failure.Class == results.FailNoProof {
		return failure
	}
	if why := results.CauseOf(ctx); why.Class == results.FailSkipped {
		return why
	}
	return failure
}
