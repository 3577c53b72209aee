package launchers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// container is a server in a container. Its processes are children of the
// engine, not of ours: the client that starts it, the one that follows its log
// and the one that waits for its end are helpers, whose ends mean nothing.
type container struct {
	cli      containerCLI
	limits   containerLimits
	id       string
	logPath  string
	cookie   string
	identity results.Process

	pid       int    // of its first process as this machine sees it; 0: it does not
	startTime uint64 // of that process

	over     chan struct{} // closed when it has ended
	done     chan struct{} // closed when it has ended and its log is complete
	quit     context.CancelFunc
	watching sync.WaitGroup

	hurry     chan struct{} // closed by Hurry
	hurryOnce sync.Once

	mu    sync.Mutex // guards what follows
	state containerState
	known map[int]uint64 // processes seen in it: pid and start time

	stopMu sync.Mutex // held while Stop works
	proof  results.Proof
	gone   bool // guarded by stopMu
}

// spawnContainer is spawn for a server in a container.
func (s *Server) spawnContainer(ctx context.Context, environ []string) *results.Failure {
	cli, failure := findContainerCLI(ctx, s.spec.Container.Engine, s.spec.Dir, environ, s.limits)
	if failure != nil {
		return failure
	}
	s.spec.Container.Engine = cli.engine
	if err := checkModel(s.spec); err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", s.kind.Name, err)
	}
	command, err := s.kind.Command(inside(s.kind, s.spec))
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", s.kind.Name, err)
	}
	recipe, err := wrap(s.kind, s.spec, command)
	if err != nil {
		return results.Failf(results.FailBadRecipe, "%s: %v", s.kind.Name, err)
	}
	s.info.Argv, s.info.Env = s.redact.texts(recipe.argv), s.redact.values(command.Env)
	plan := results.Process{
		BootID: process.BootID(), Cookie: s.spec.Cookie, Port: s.spec.Port, Argv: s.info.Argv,
		Container: &results.ContainerInfo{Engine: cli.engine, Name: recipe.name, Label: recipe.label},
	}
	if err := s.write(results.Event{Kind: results.LifeStarting, Process: &plan}); err != nil {
		return asFailure(err)
	}
	if failure = s.runContainer(ctx, cli, recipe); failure != nil {
		failure = s.clean(failure)
		_ = s.write(results.Event{Kind: results.LifeFailed, Failure: failure}) // the failure itself is returned
	}
	return failure
}

// runContainer runs the container and begins to watch it.
func (s *Server) runContainer(ctx context.Context, cli containerCLI, recipe containerRecipe) *results.Failure {
	log, err := openLog(s.spec.LogPath, s.kind, s.spec.Ready.Log)
	if err != nil {
		return results.Failf(results.FailDisk, "open server log: %v", err)
	}
	c, failure := startContainer(ctx, cli, recipe, s)
	if failure != nil {
		log.close()
		return failure
	}
	s.log, s.process = log, c
	s.lastMov, s.info.PID = s.began, c.pid
	return nil
}

// startContainer makes sure that the image is there, and runs it. After a
// failure nothing of the container is left, or the failure is FailNoProof.
func startContainer(ctx context.Context, cli containerCLI, recipe containerRecipe, s *Server) (*container, *results.Failure) {
	cli.env = append(slices.Clip(cli.env), recipe.secrets...)
	limits := s.limits
	if failure := cli.haveImage(ctx, limits, recipe.image, s.readyLimit()); failure != nil {
		return nil, failure
	}
	s.began = time.Now() // an image may have taken long to come
	text, err := cli.call(ctx, limits.run, recipe.argv[1:]...)
	if err != nil {
		return nil, cli.clearAway(ctx, limits, recipe.label, startFailure(ctx, err))
	}
	lines := strings.Fields(text)
	if len(lines) == 0 {
		return nil, cli.clearAway(ctx, limits, recipe.label, results.Failf(results.FailInternal, "%s run: it gave no container id", cli.engine))
	}
	c := &container{
		cli: cli, limits: limits, id: lines[len(lines)-1], logPath: s.spec.LogPath, cookie: s.spec.Cookie,
		identity: results.Process{
			BootID: process.BootID(), Cookie: s.spec.Cookie, Argv: recipe.argv,
			Container: &results.ContainerInfo{Engine: cli.engine, Name: recipe.name, Label: recipe.label},
		},
		over: make(chan struct{}), done: make(chan struct{}), hurry: make(chan struct{}), known: make(map[int]uint64),
	}
	c.identity.Container.ID = c.id
	_ = c.look(ctx) // watch asks again
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.quit = cancel
	followed := make(chan struct{})
	c.watching.Go(func() {
		defer close(followed)
		c.follow(background)
	})
	c.watching.Go(func() { c.watch(background, followed) })
	return c, nil
}

// haveImage pulls an image that the engine does not have.
func (c containerCLI) haveImage(ctx context.Context, limits containerLimits, image string, patience time.Duration) *results.Failure {
	_, err := c.call(ctx, limits.ask, "image", "inspect", "--format", "{{.Id}}", image)
	if err == nil {
		return nil
	}
	if noSuch(err) {
		_, err = c.call(ctx, patience, "pull", image)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return interrupted(ctx, "waiting for image "+image)
	}
	return results.Failf(results.FailImage, "container: image %q: %v", image, err)
}

// clearAway removes what a failed run may have left. A client that was killed
// may have asked the engine for a container that appears only later.
func (c containerCLI) clearAway(ctx context.Context, limits containerLimits, label string, failure *results.Failure) *results.Failure {
	ctx = context.WithoutCancel(ctx)
	for range 2 {
		ids, err := c.labelled(ctx, limits.ask, label)
		for _, id := range ids {
			if err == nil {
				err = c.remove(ctx, limits, id)
			}
		}
		if err != nil {
			return results.Failf(results.FailNoProof, "container: cannot be proven gone: %v; before that: %v", err, failure)
		}
		if failure.Class != results.FailContainer {
			break // the engine refused, so nothing can come any more
		}
		pause(ctx, limits.again)
	}
	return failure
}

var (
	noDeviceText = regexp.MustCompile(`could not select device driver|error gathering device information|no such device|unresolvable CDI devices|nvidia-container-cli`)
	portText     = regexp.MustCompile(`port is already allocated|address already in use`)
	programText  = regexp.MustCompile(`executable file not found|no such file or directory: OCI|exec format error`)
)

// startFailure classifies why a container could not be started.
func startFailure(ctx context.Context, err error) *results.Failure {
	text := err.Error()
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx, "starting the container")
	case noDeviceText.MatchString(text):
		return results.Failf(results.FailNoGPU, "container: %s: install the vendor's container toolkit, or name the devices in the keys gpus: and devices:", text)
	case portText.MatchString(text):
		return results.Failf(results.FailPortInUse, "container: %s", text)
	case programText.MatchString(text):
		return results.Failf(results.FailNotFound, "container: %s: set the key command: to a program within the image", text)
	}
	if failed, ok := errors.AsType[*cliError](err); ok && (failed.hung > 0 || failed.code < 0) {
		return results.Failf(results.FailContainer, "container: %s", text)
	}
	return results.Failf(results.FailBadRecipe, "container: %s", text)
}

// look asks the engine for the container's state and, the first time, for its
// first process. An answer that does not come changes nothing.
func (c *container) look(ctx context.Context) error {
	state, err := c.cli.inspect(ctx, c.limits.ask, c.id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	if c.pid == 0 && state.PID > 0 {
		if start, seen := process.StartTime(state.PID); seen {
			c.pid, c.startTime = state.PID, start
		}
	}
	return nil
}

// Info identifies the container. It names no pid: none of its processes is a
// child of ours, and all of them end with the container.
func (c *container) Info() results.Process { return c.identity }

// Done is closed when the container has ended and its log is complete.
func (c *container) Done() <-chan struct{} { return c.done }

// Exit returns the exit code of the container's first process.
func (c *container) Exit() (code int, ok bool) {
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.state.ExitCode, true
	default:
		return 0, false
	}
}

// Explain says what the engine knows of the end, "" if nothing.
func (c *container) Explain() (class results.FailureClass, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state.OOMKilled:
		return results.FailOutOfMemory, c.cli.engine + " says that the kernel ended it for lack of memory (OOMKilled)"
	case c.state.Error != "":
		return "", fmt.Sprintf("%s says %q", c.cli.engine, shorten(c.state.Error))
	}
	return "", ""
}

// Tree returns the container's processes; none where this machine cannot see
// them.
func (c *container) Tree() ([]process.Proc, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 {
		return nil, nil
	}
	procs, err := process.Descendants(c.pid, c.startTime)
	for _, p := range procs {
		c.known[p.PID] = p.StartTime
	}
	return procs, err
}

// Usage is what the container's processes have consumed so far.
func (c *container) Usage() (process.Usage, error) {
	procs, err := c.Tree()
	return process.UsageOf(procs), err
}

// Hurry makes a Stop that runs or comes go straight to SIGKILL.
func (c *container) Hurry() { c.hurryOnce.Do(func() { close(c.hurry) }) }
