package launchers

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// spawner starts the process or the container of a server, with journal entries
// before and after. It fills in process, log, began and private of what it starts.
type spawner struct {
	*started

	limits container.Limits
	info   *results.Server // gets argv, environment, pid and image
	write  func(results.Event) error
}

// spawn starts the program of a command.
func (s *spawner) spawn(ctx context.Context, environ []string, command recipe.Command) *results.Failure {
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
	env = append(env, recipe.Assignments(own.Env)...)
	plan := results.Process{
		BootID: proc.System.BootID(), Cookie: s.spec.Cookie, Port: s.portHere(), Argv: s.redact.Texts(argv),
		Cgroup: process.PlannedCgroup(s.spec.Cookie), Private: s.private,
	}
	if err := s.write(results.Event{Kind: results.LifeStarting, Process: &plan}); err != nil {
		return asFailure(err)
	}

	failure := s.makePrivate()
	if failure == nil {
		failure = s.start(argv, env)
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
func (s *spawner) privateSettings(ctx context.Context) (engines.Settings, error) {
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
func (s *spawner) makePrivate() *results.Failure {
	if s.private == "" {
		return nil
	}
	if err := os.Mkdir(s.private, 0o700); err != nil {
		s.private = "" // not ours
		return results.Failf(results.FailDisk, "make a folder for sockets: %v", err)
	}
	return nil
}

// start runs the program.
func (s *spawner) start(argv, env []string) *results.Failure {
	log, failure := s.openLog()
	if failure != nil {
		return failure
	}

	s.log, s.began = log, time.Now()
	p, err := process.Start(process.Config{
		Argv: argv, Env: env, Dir: s.spec.Dir, LogPath: s.spec.LogPath, Cookie: s.spec.Cookie, Cgroup: true,
		OrphanGrace: s.kind.OrphanGrace, Place: s.spec.Place,
	})
	if err != nil {
		log.Close()
		if errors.Is(err, process.ErrNotFound) {
			return s.notFound(argv[0], err)
		}
		return results.Failf(results.FailBadRecipe, "start %q: %v", argv[0], err)
	}
	s.process, s.info.PID = p, p.Info().PID
	return nil
}

func (s *spawner) openLog() (*serverlog.Log, *results.Failure) {
	log, err := serverlog.Open(s.spec.LogPath, s.kind.Log, s.kind.Args.Slots, s.spec.Ready.Log)
	if err != nil {
		return nil, results.Failf(results.FailDisk, "open server log: %v", err)
	}
	return log, nil
}

func (s *spawner) checkFolder() *results.Failure {
	if s.spec.Dir == "" {
		return nil
	}
	if info, err := os.Stat(s.spec.Dir); err != nil || !info.IsDir() {
		return results.Failf(results.FailBadRecipe, "working directory %q: no such folder", s.spec.Dir)
	}
	return nil
}

// spawnContainer is spawn for a server in a container.
func (s *spawner) spawnContainer(ctx context.Context, environ []string) *results.Failure {
	cli, failure := container.FindCLI(ctx, s.spec.Container.Engine, s.spec.Dir, environ, s.limits)
	if failure != nil {
		return failure
	}

	s.spec.Container.Engine = cli.Engine
	job, err := contained(s.kind, s.spec)
	if err == nil {
		err = job.CheckModel()
	}
	if err == nil {
		err = s.addPrivate(ctx, &job)
	}
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", s.kind.Name, err)
	}

	recipe, err := job.Recipe()
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", s.kind.Name, err)
	}

	s.info.Argv, s.info.Env = s.redact.Texts(recipe.Argv), s.redact.Values(job.Env)
	plan := results.Process{
		BootID: proc.System.BootID(), Cookie: s.spec.Cookie, Port: s.spec.Port, Argv: s.info.Argv,
		Container: recipe.Info(),
	}

	if err := s.write(results.Event{Kind: results.LifeStarting, Process: &plan}); err != nil {
		return asFailure(err)
	}

	if failure = s.runContainer(ctx, cli, job); failure != nil {
		failure = s.clean(failure)
		_ = s.write(results.Event{Kind: results.LifeFailed, Failure: failure}) // the failure itself is returned
	}

	return failure
}

// addPrivate gives a container that shares the machine's network ports of its own.
func (s *spawner) addPrivate(ctx context.Context, job *container.Job) error {
	own, err := s.privateSettings(ctx)
	if err != nil {
		return err
	}
	job.Argv = slices.Concat(job.Argv, own.Args)
	job.Env = maps.Clone(job.Env)
	if job.Env == nil {
		job.Env = map[string]string{}
	}
	maps.Copy(job.Env, own.Env)
	return nil
}

// runContainer runs the container.
func (s *spawner) runContainer(ctx context.Context, cli container.CLI, job container.Job) *results.Failure {
	log, failure := s.openLog()
	if failure != nil {
		return failure
	}
	c, began, failure := container.Start(ctx, cli, job, s.spec.OnReadinessChange)
	if failure != nil {
		log.Close()
		return failure
	}

	s.log, s.process, s.began = log, c, began // an image may have taken long to come
	s.info.PID, s.info.Container = c.PID(), c.Info().Container
	return nil
}
