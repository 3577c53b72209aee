// Package launchers starts inference servers, waits until they serve, watches
// them, and stops them.
//
// What goes in: a Kind (launchers/engines) and a Spec (launchers/recipe). What
// comes out: a running Server that has answered with a token, or a
// *results.Failure that says why not. It drives no load, reads no scenario,
// and never ends a process that it did not start (launchers/process owns
// process trees).
package launchers

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/launchers/shm"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// Launcher starts servers. The zero value journals nothing and gives servers
// an environment without anything inherited.
type Launcher struct {
	// Journal writes an event of a server's life and returns when it is safe
	// on disk; nil: no journal. It may be called from several goroutines.
	Journal func(results.Event) error
	// Environ is the environment that servers inherit, as os.Environ gives it.
	Environ []string
	// GPUs reads video memory, for the proof that it is back after a stop;
	// nil: it is not looked at.
	GPUs vram.Memory
	// GPUBytes is the whole memory of devices by id, for what counts as back.
	GPUBytes map[string]int64
	// Nodes looks at the other nodes of a server over several; nil: there are
	// none.
	Nodes cleanup.NodeSweeper

	limits *container.Limits // nil: the usual ones
	ownEnd time.Duration     // see watcher.patience; 0: the usual

	vram vram.Ledger
	shm  shm.Ledger

	mu      sync.Mutex           // guards all below
	killNow bool                 // KillNow was called
	running map[*Server]struct{} // started and not proven gone
}

// KillNow makes every stop, running or to come, go straight to SIGKILL.
func (l *Launcher) KillNow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killNow = true
	for server := range l.running {
		server.requestKill()
	}
}

func (l *Launcher) started(s *Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killNow {
		s.requestKill()
	}
	if l.running == nil {
		l.running = make(map[*Server]struct{})
	}
	l.running[s] = struct{}{}
}

func (l *Launcher) ended(s *Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, s)
}

// ownPIDs are the processes of all servers that are not proven gone.
func (l *Launcher) ownPIDs() []int {
	l.mu.Lock()
	servers := slices.Collect(maps.Keys(l.running))
	l.mu.Unlock()
	var pids []int
	for _, s := range servers {
		pids = append(pids, s.OwnPIDs()...)
	}
	return pids
}

// Launch starts the server and returns once it has answered with a token. The
// error is a *results.Failure; then nothing of the server is left, or the
// failure says FailNoProof. A done ctx ends the wait; the clean-up still gives
// the server its grace (see KillNow).
func (l *Launcher) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (*Server, error) {
	server, failure := l.launch(ctx, kind, spec)
	if failure != nil {
		return nil, failure
	}
	return server, nil
}

func (l *Launcher) launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (*Server, *results.Failure) {
	if ctx.Err() != nil {
		return nil, results.Interrupted(ctx, "before the start")
	}
	spec, err := setMeetingPoint(ctx, spec)
	if err != nil {
		return nil, results.Failf(results.FailPortInUse, "%v", err)
	}
	command, err := Plan(kind, spec)
	if err != nil {
		return nil, results.Failf(results.FailBadRecipe, "%s: %v", kind.Name, err)
	}
	if kind.External {
		return l.attach(ctx, kind, spec)
	}
	spec.Port = cmp.Or(spec.Port, kind.DefaultPort)
	spec.Host = cmp.Or(spec.Host, "127.0.0.1")
	if failure := checkPort(context.WithoutCancel(ctx), spec); failure != nil {
		return nil, failure
	}
	if failure := makeCaches(kind, spec); failure != nil {
		return nil, failure
	}
	companions, failure := l.startCompanions(ctx, kind, spec)
	if failure != nil {
		return nil, failure
	}
	server, failure := l.begin(ctx, kind, spec, command)
	if failure != nil {
		return nil, companions.discard(ctx, failure)
	}
	server.join(companions)
	if failure := server.becomeReady(ctx); failure != nil {
		return nil, discard(ctx, server, failure)
	}

	return server, nil
}

// checkPort returns nil if the server's port is free, as far as can be seen from here.
func checkPort(ctx context.Context, spec recipe.Spec) *results.Failure {
	if spec.Span.Away {
		return ports.CheckElsewhere(ctx, spec.Reached(), spec.Port)
	}
	return ports.Check(ctx, spec.Host, spec.Port)
}

// begin starts the program of a command. After a failure nothing of it is left.
func (l *Launcher) begin(
	ctx context.Context, kind engines.Kind, spec recipe.Spec, command recipe.Command,
) (*Server, *results.Failure) {
	// The cookies of one run's servers must differ: whoever carries a server's
	// is ended with it.
	spec.Cookie = strings.TrimPrefix(spec.Cookie+"."+rand.Text(), ".")
	if spec.Port != 0 {
		spec.BaseURL = "http://" + net.JoinHostPort(spec.Reached(), strconv.Itoa(spec.Port))
	}

	claim, failure := l.claimMemory(ctx, spec)
	if failure != nil {
		return nil, failure
	}

	server := newServer(kind, spec, l.Journal)
	server.ownEnd = l.ownEnd
	server.claim = claim
	server.shm = l.shm.Enter()
	server.release = func() { l.ended(server); claim.Release(); _ = cleanup.RemovePrivate(server.private) }
	spawner := spawner{server.started, l.containerLimits(), &server.info, server.write}
	if failure := spawner.spawn(ctx, l.Environ, command); failure != nil {
		server.shm.Leave()
		server.release()
		return nil, failure
	}

	server.Follow(server.log)
	server.alive.noteAt(server.began)
	l.started(server)
	return server, nil
}

func (l *Launcher) containerLimits() container.Limits {
	if l.limits != nil {
		return *l.limits
	}
	return container.DefaultLimits()
}

// claimMemory takes the baselines of the server's GPUs.
func (l *Launcher) claimMemory(ctx context.Context, spec recipe.Spec) (*vram.Claim, *results.Failure) {
	setup := vram.Setup{Memory: vram.NewReader(l.GPUs), Sizes: l.GPUBytes, Policy: spec.VRAM, Vendor: spec.Vendor}
	if kind, ok := engines.Lookup(spec.Launcher); ok {
		args := kind.Args
		if args.MemoryShare != nil {
			setup.Policy.Share = args.MemoryShare(spec.Args)
		}
		if args.WeightsOnGPU != nil && args.WeightsOnGPU(spec.Args) && len(spec.Devices) > 0 {
			setup.Policy.Weights = weightsOf(spec.Model, spec.Dir) / int64(len(spec.Devices))
		}
	}
	return l.vram.Claim(ctx, setup, spec.Devices, l.ownPIDs)
}

// attach waits for a server that runs already.
func (l *Launcher) attach(ctx context.Context, kind engines.Kind, spec recipe.Spec) (*Server, *results.Failure) {
	server := newServer(kind, spec, l.Journal)
	server.began = time.Now()
	if failure := server.becomeReady(ctx); failure != nil {
		return nil, failure
	}
	return server, nil
}

// Attach gives a server that runs already, without asking it anything: the
// caller vouches for it. It is for questions beside a run, such as Models.
func Attach(kind engines.Kind, spec recipe.Spec) *Server {
	s := newServer(kind, spec, nil)
	s.began = time.Now()
	return s
}

func newServer(kind engines.Kind, spec recipe.Spec, journal func(results.Event) error) *Server {
	this := &started{kind: kind, spec: spec, redact: recipe.NewRedaction(spec)}
	s := &Server{
		Endpoint:  endpoint.New(kind, spec),
		started:   this,
		portOwner: portOwner{this},
		watcher: &watcher{
			started: this, outcome: outcome{failed: make(chan struct{})},
			killNow: make(chan struct{}), quit: make(chan struct{}),
		},
		journal: journal,
	}
	s.lookAtTree = s.noteMembers
	s.info = results.Server{
		Replica: spec.Replica,
		Life:    spec.Life,

		Component: spec.Component, Inner: spec.Inner,

		Launcher: kind.Name,
		BaseURL:  s.redact.Text(endpoint.WithoutPassword(s.BaseURL())),
		GPUs:     spec.GPUs,
		CPUs:     spec.Place.CPUs.String(),
		NUMANode: spec.Place.Node,
		Nice:     spec.Place.Nice,
	}
	switch {
	case spec.Span.Several():
		s.info.Nodes = spec.Span.Names()
	case spec.Span.Away:
		s.info.Node = spec.Span.Self().Name
	}

	return s
}

// becomeReady watches the server and climbs the ladder.
func (s *Server) becomeReady(ctx context.Context) *results.Failure {
	s.readiness = ready.NewProgress(s.spec.Ready, s.began, s.spec.OnReadinessChange)
	limited, free := awake.WithTimeoutCause(ctx, s.spec.Ready.Limit(), ready.ErrTooLate)
	defer free()
	waiting, cancel := context.WithCancelCause(limited)
	defer cancel(nil)
	if s.process != nil {
		if err := s.spawned(); err != nil {
			return asFailure(err)
		}
		s.group.Go(func() { s.watch(func() { cancel(ready.ErrStalled) }) })
		s.group.Go(func() {
			select {
			case <-s.failed:
				cancel(s.Failure())
			case <-waiting.Done():
			}
		})
	}
	if failure := s.readiness.Run(waiting, s.unlessIntruder(s.ladder())); failure != nil {
		return s.clean(s.withEvidence(failure))
	}

	answer, failure := s.readiness.Smoke(waiting, s.Endpoint, s.spec.Smoke)
	if answer != nil {
		answer.Body = s.redact.Text(answer.Body)
	}
	s.mu.Lock()
	s.info.Smoke = answer
	s.mu.Unlock()
	if failure != nil {
		return s.clean(s.withEvidence(failure))
	}

	return s.nowServing(ctx)
}

func (s *Server) spawned() error {
	identity := s.process.Info()
	identity.Port, identity.Argv = s.portHere(), s.info.Argv
	message := ""
	if tree, ok := s.process.(*process.Process); ok && tree.CgroupError() != nil {
		message = fmt.Sprintf("without a control group of its own: %v", tree.CgroupError())
	}
	return s.write(results.Event{Kind: results.LifeSpawned, Process: &identity, Message: message})
}

// nowServing records the end of the start.
func (s *Server) nowServing(ctx context.Context) *results.Failure {
	var facts serverlog.Facts
	if s.process != nil {
		if err := s.lookAtTree(true); err != nil {
			return asFailure(err)
		}
		facts = s.log.Serve()
	}
	startup, version := s.Describe(ctx, facts)
	version = cmp.Or(s.Version(ctx), version)
	counts := s.FindTokenizer(ctx)
	s.mu.Lock()
	s.info.Version, s.info.Startup, s.info.CountsTokens = version, startup, counts
	s.mu.Unlock()
	s.setServing()
	if s.process == nil {
		return nil // somebody else's life is not ours to tell
	}
	if err := s.write(results.Event{Kind: results.LifeReady, Message: "ready after " + s.sinceSpawn()}); err != nil {
		return asFailure(err)
	}

	return nil
}

// discard ends a server that did not become ready and returns its failure, or
// the one of its end if that is worse.
func discard(ctx context.Context, server *Server, failure *results.Failure) *results.Failure {
	server.endWatch()
	server.replace(failure)
	proof, err := server.Stop(context.WithoutCancel(ctx))
	// A stranger on the port keeps it after our server is gone: that is known.
	if err != nil && (failure.Class != results.FailForeign || !proof.PIDsGone) {
		worse := *asFailure(err)
		worse.Message = fmt.Sprintf("%s; before that: %v", worse.Message, failure)
		worse.LogTail = failure.LogTail
		return &worse
	}
	return failure
}

func asFailure(err error) *results.Failure {
	return results.AsFailure(err, results.FailInternal)
}
