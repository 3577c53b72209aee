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
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/proc"
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
	ownEnd time.Duration     // see Server.patience; 0: the usual

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
	server.limits = l.containerLimits()
	server.ownEnd = l.ownEnd
	server.claim = claim
	server.shm = l.shm.Enter()
	server.release = func() { l.ended(server); claim.Release(); _ = cleanup.RemovePrivate(server.private) }
	if failure := server.spawn(ctx, l.Environ, command); failure != nil {
		server.shm.Leave()
		server.release()
		return nil, failure
	}

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
	if kind, ok := engines.Lookup(spec.Launcher); ok && kind.MemoryShare != nil {
		setup.Policy.Share = kind.MemoryShare(spec.Args)
	}
	if kind, ok := engines.Lookup(spec.Launcher); ok && kind.WeightsOnGPU != nil && kind.WeightsOnGPU(spec.Args) &&
		len(spec.Devices) > 0 {
		setup.Policy.Weights = weightsOf(spec.Model, spec.Dir) / int64(len(spec.Devices))
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
	s := &Server{
		Endpoint: endpoint.New(kind, spec),
		kind:     kind,
		spec:     spec,
		redact:   recipe.NewRedaction(spec),
		journal:  journal,
		limits:   container.DefaultLimits(),
		killNow:  make(chan struct{}),
		quit:     make(chan struct{}),
		failed:   make(chan struct{}),
	}
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

// spawn starts the process, with journal entries before and after.
func (s *Server) spawn(ctx context.Context, environ []string, command recipe.Command) *results.Failure {
	if s.spec.Container.Contained() {
		return s.spawnContainer(ctx, environ)
	}
	if s.spec.Container.Image != "" {
		s.info.Image = s.spec.Container.FileImage()
	}
	env, set := recipe.Environment(environ, s.spec, command)
	s.info.Argv, s.info.Env = s.redact.Texts(command.Argv), s.redact.Values(set)
	if len(command.Argv) == 0 {
		return results.Failf(results.FailBadRecipe, "%s: the recipe gives no program to run", s.kind.Name)
	}
	if _, err := process.LookPath(command.Argv[0], s.spec.Dir, env); err != nil {
		return s.notFound(command.Argv[0], err)
	}
	if failure := s.checkFolder(); failure != nil {
		return failure
	}
	s.info.DroppedEnv = recipe.Dropped(environ, s.spec, command)
	own, err := s.privateSettings(ctx)
	if err != nil {
		return results.Failf(results.FailPortInUse, "%v", err)
	}

	argv := slices.Concat(command.Argv, own.Args)
	env = append(env, assignments(own.Env)...)
	plan := results.Process{
		BootID: proc.System.BootID(), Cookie: s.spec.Cookie, Port: s.portHere(), Argv: s.redact.Texts(argv),
		Cgroup: process.PlannedCgroup(s.spec.Cookie), Private: s.private,
	}
	if err := s.write(results.Event{Kind: results.LifeStarting, Process: &plan}); err != nil {
		return asFailure(err)
	}

	failure := s.makePrivate()
	if failure == nil {
		failure = s.start(ctx, argv, env)
	}
	if failure != nil {
		_ = s.write(results.Event{Kind: results.LifeFailed, Failure: failure}) // the failure itself is returned
	}
	return failure
}

// privatePorts is where free ports for engines' own use are looked for: below
// those that the kernel gives to connections, at a place that differs from
// start to start.
const (
	privatePorts     = 22000
	privatePortRange = 8000
)

// privateSettings are those by which the server does not share sockets and ports
// with others of the machine. Where the recipe sets a variable, it wins. A
// container has files of its own, and ports where it shares the machine's network.
func (s *Server) privateSettings(ctx context.Context) (engines.Settings, error) {
	contained := s.spec.Container.Image != ""
	if s.kind.Private == nil || s.spec.Span.Several() || contained && !s.spec.Container.HostNetwork() {
		return engines.Settings{}, nil
	}

	if s.spec.Span.Away {
		return s.kind.Private(engines.Private{Port: portsElsewhere(s.spec.Port)}, s.spec), nil
	}

	port, err := ports.FindRange(context.WithoutCancel(ctx), "127.0.0.1",
		privatePorts+engines.PrivatePorts*mathrand.IntN(privatePortRange/engines.PrivatePorts), engines.PrivatePorts,
		[]int{s.spec.Port})
	if err != nil {
		return engines.Settings{}, err
	}
	if !contained {
		s.private = socketsFolder(os.TempDir())
	}

	own := s.kind.Private(engines.Private{Folder: s.private, Port: port}, s.spec)
	maps.DeleteFunc(own.Env, func(name, _ string) bool {
		_, byHand := s.spec.Env[name]
		return byHand || slices.Contains(s.spec.Inherit, name)
	})
	return own, nil
}

// portsElsewhere is the first of a server's private ports on another node, where
// they cannot be checked: servers with adjacent API ports have different ones.
func portsElsewhere(api int) int {
	return privatePorts + api*engines.PrivatePorts%privatePortRange
}

// socketsFolder is a new name for a folder of sockets below temp, or below /tmp where
// that would be too long: the path of a socket has 107 bytes at most, and vLLM's
// sockets have names of 36.
func socketsFolder(temp string) string {
	const short, most, name = 10, 107, 36
	folder := cleanup.PrivatePrefix + strings.ToLower(rand.Text()[:short])
	if path := filepath.Join(temp, folder); len(path)+len("/")+name <= most {
		return path
	}
	return filepath.Join("/tmp", folder)
}

// makePrivate makes the folder of the server's sockets, whose name is in the
// journal by now.
func (s *Server) makePrivate() *results.Failure {
	if s.private == "" {
		return nil
	}
	if err := os.Mkdir(s.private, 0o700); err != nil {
		s.private = "" // not ours
		return results.Failf(results.FailDisk, "make a folder for sockets: %v", err)
	}
	return nil
}

// assignments are variables as NAME=VALUE, in the order of their names.
func assignments(variables map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		all = append(all, name+"="+variables[name])
	}
	return all
}

// start runs the program and begins to watch it.
func (s *Server) start(ctx context.Context, argv, env []string) *results.Failure {
	log, err := serverlog.Open(s.spec.LogPath, s.kind, s.spec.Ready.Log)
	if err != nil {
		return results.Failf(results.FailDisk, "open server log: %v", err)
	}
	s.log, s.began = log, time.Now()
	s.Follow(log)
	s.lastMov = s.began
	s.process, err = s.execute(ctx, argv, env)
	if err != nil {
		log.Close()
		if errors.Is(err, process.ErrNotFound) {
			return s.notFound(argv[0], err)
		}
		return results.Failf(results.FailBadRecipe, "start %q: %v", argv[0], err)
	}
	s.info.PID = s.process.Info().PID
	return nil
}

func (s *Server) notFound(program string, err error) *results.Failure {
	return results.Failf(results.FailNotFound, "%s: cannot run %q: %v; install %s or set binary: to its path",
		s.kind.Name, program, err, s.kind.Name)
}

func (s *Server) checkFolder() *results.Failure {
	if s.spec.Dir == "" {
		return nil
	}
	if info, err := os.Stat(s.spec.Dir); err != nil || !info.IsDir() {
		return results.Failf(results.FailBadRecipe, "working directory %q: no such folder", s.spec.Dir)
	}
	return nil
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
		s.watching.Go(func() { s.watch(func() { cancel(ready.ErrStalled) }) })
		s.watching.Go(func() {
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
	s.info.Version, s.info.Startup, s.ready, s.info.CountsTokens = version, startup, true, counts
	s.mu.Unlock()
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
	server.settle(failure)
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

// settle makes failure the one that the journal tells, also where the server's
// own end came in between.
func (s *Server) settle(failure *results.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil {
		close(s.failed)
	}
	s.failure = failure
}

func asFailure(err error) *results.Failure {
	if failure, ok := errors.AsType[*results.Failure](err); ok {
		return failure
	}
	return results.Failf(results.FailInternal, "%v", err)
}
