package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// Container is a server in a container. Its processes are children of the
// engine, not of ours: the client that starts it, the one that follows its log
// and the one that waits for its end are helpers, whose ends mean nothing.
type Container struct {
	cli      CLI
	id       string
	logPath  string
	monitor  string // see Job.monitorDir
	cookie   string
	identity results.Process

	pid       int    // of its first process as this machine sees it; 0: it does not
	startTime uint64 // of that process

	over     chan struct{} // closed when it has ended
	done     chan struct{} // closed when it has ended and its log is complete
	quit     context.CancelFunc
	watching sync.WaitGroup

	killNow     chan struct{} // closed by KillNow
	killNowOnce sync.Once

	mu    sync.Mutex // guards what follows
	state state
	// processes of it that the kernel has killed for lack of memory
	memory proc.OOMWatch
	kills  int
	known  map[int]uint64 // processes seen in it: pid and start time

	stopMu sync.Mutex // held while Stop works
	proof  results.Proof
	gone   bool // guarded by stopMu
}

// Start makes sure that the image is there and runs the container; began is when
// it was asked for, once the image had come. tell gets how far the image is, and
// may be nil. After a failure nothing of it is left, or the failure is
// FailNoProof.
func Start(ctx context.Context, cli CLI, job Job, tell func(string)) (c *Container, began time.Time,
	failure *results.Failure,
) {
	recipe, err := job.Recipe()
	if err != nil {
		return nil, began, results.Failf(results.FailBadRecipe, "%v", err)
	}

	cli.env = append(slices.Clip(cli.env), recipe.secrets...)
	image, failure := cli.haveImage(ctx, recipe.image, job.Options.pullLimit(), tell)
	if failure != nil {
		return nil, began, failure
	}
	if err := job.MakeCaches(); err != nil {
		return nil, began, results.Failf(results.FailBadRecipe, "%v", err)
	}

	process.IgnoreOrphans() // engines leave daemons of their own behind
	began = time.Now()
	monitor := job.monitorDir(cli.Engine)
	id, failure := cli.run(ctx, recipe, monitor)
	if failure != nil {
		failure = cli.removeFailed(ctx, recipe.label, failure)
		removeMonitorDir(monitor)
		return nil, began, failure
	}

	c = &Container{
		cli: cli, id: id, logPath: job.LogPath, monitor: monitor, cookie: job.Cookie,
		identity: results.Process{
			BootID: proc.System.BootID(), Cookie: job.Cookie, Argv: recipe.Argv, Container: recipe.Info(),
		},
		over: make(chan struct{}), done: make(chan struct{}), killNow: make(chan struct{}), known: make(map[int]uint64),
	}

	c.identity.Container.ID, c.identity.Container.Image = c.id, &image
	_ = c.look(ctx) // watch asks again
	c.begin(ctx)

	return c, began, nil
}

// run has the engine run the container, and returns its id.
func (c CLI) run(ctx context.Context, recipe Recipe, monitor string) (id string, failure *results.Failure) {
	if err := c.enterMonitorDir(monitor); err != nil {
		return "", results.Failf(results.FailDisk, "container: %v", err)
	}
	output, err := c.call(ctx, c.Limits.Run, recipe.Argv[1:]...)
	if err != nil {
		return "", startFailure(ctx, err)
	}

	words := strings.Fields(output)
	if len(words) == 0 {
		return "", results.Failf(results.FailInternal, "%s run: it gave no container id", c.Engine)
	}

	return words[len(words)-1], nil
}

// begin follows the container's log and watches for its end.
func (c *Container) begin(ctx context.Context) {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.quit = cancel

	followed := make(chan struct{})
	c.watching.Go(func() {
		defer close(followed)
		c.follow(background)
	})
	c.watching.Go(func() { c.watch(background, followed) })
}

// removeFailed removes what a failed run may have left. A client that was killed
// may have asked the engine for a container that appears only later.
func (c CLI) removeFailed(ctx context.Context, label string, failure *results.Failure) *results.Failure {
	ctx = context.WithoutCancel(ctx)
	for range 2 {
		ids, err := c.labelled(ctx, label)
		for _, id := range ids {
			if err == nil {
				err = c.remove(ctx, id)
			}
		}
		if err != nil {
			return results.Failf(results.FailNoProof, "container: cannot be proven gone: %v; before that: %v", err,
				failure)
		}
		if failure.Class != results.FailContainer {
			break // the engine refused, so nothing can come any more
		}
		sleep.For(ctx, c.Limits.Again)
	}

	return failure
}

var (
	noDeviceText = regexp.MustCompile(`could not select device driver|error gathering device information|no such device|unresolvable CDI devices|nvidia-container-cli`)
	portText     = regexp.MustCompile(`port is already allocated|address already in use`)
	initText     = regexp.MustCompile(`container-init binary not found`)
	programText  = regexp.MustCompile(`executable file not found|no such file or directory: OCI|exec format error`)
)

// startFailure classifies why a container could not be started.
func startFailure(ctx context.Context, err error) *results.Failure {
	reason := err.Error()
	switch {
	case ctx.Err() != nil:
		return results.Interrupted(ctx, "starting the container")
	case noDeviceText.MatchString(reason):
		return results.Failf(results.FailNoGPU, "container: %s: install the vendor's container toolkit, "+
			"or name the devices in the keys gpus: and devices:", reason)
	case portText.MatchString(reason):
		return results.Failf(results.FailPortInUse, "container: %s", reason)
	case initText.MatchString(reason):
		return results.Failf(results.FailNotFound, "container: %s: install catatonit, "+
			"with which podman reaps a container's processes", reason)
	case programText.MatchString(reason):
		return results.Failf(results.FailNotFound, "container: %s: set the key command: to a program within the image",
			reason)
	}

	if failed, ok := errors.AsType[*cliError](err); ok && (failed.hung > 0 || failed.code < 0) {
		return results.Failf(results.FailContainer, "container: %s", reason)
	}

	return results.Failf(results.FailBadRecipe, "container: %s", reason)
}

// look asks the engine for the container's state and, the first time, for its
// first process. An answer that does not come changes nothing.
func (c *Container) look(ctx context.Context) error {
	state, err := c.cli.inspect(ctx, c.id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	if c.pid == 0 && state.PID > 0 {
		if start, seen := proc.System.StartTime(state.PID); seen && c.holds(state.PID) {
			c.pid, c.startTime = state.PID, start
			c.memory = proc.System.WatchOOM(state.PID, proc.Cgroups, c.id)
		}
	}

	return nil
}

// holds reports whether a process of this machine is the container's: the pid
// that an engine reports may be one of another machine or pid namespace, where it
// names a stranger here. The kernel names the container in the process's control
// group, or shows the cookie that the container was given in its environment.
func (c *Container) holds(pid int) bool {
	if !proc.System.Own() {
		return false
	}
	if group, err := proc.System.CgroupText(strconv.Itoa(pid)); err == nil && strings.Contains(group, c.id) {
		return true
	}
	cookies, _ := proc.System.Variable(pid, process.CookieVariable)

	return slices.Contains(cookies, c.cookie)
}

// Info identifies the container. It names no pid: none of its processes is a
// child of ours, and all of them end with the container.
func (c *Container) Info() results.Process { return c.identity }

// Done is closed when the container has ended and its log is complete.
func (c *Container) Done() <-chan struct{} { return c.done }

// Exit returns the exit code of the container's first process.
func (c *Container) Exit() (code int, ok bool) {
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.state.ExitCode, true
	default:
		return 0, false
	}
}

// notRunText is how the init of a container, that of docker or of podman, says
// that it could not run the program.
var notRunText = regexp.MustCompile(`tini \(\d+\)\] exec .* failed|\(catatonit:\d+\): failed to exec`)

// logEnd is the end of the container's log.
func (c *Container) logEnd() string {
	const enough = 1 << 10 // bytes

	root, name := inside.Split(c.logPath)
	file, err := inside.Open(root, name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > enough {
		_, _ = file.Seek(-enough, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(file, enough)) // what cannot be read says nothing

	return string(text)
}

// Explain says what the engine knows of the end, "" if nothing.
func (c *Container) Explain() (class results.FailureClass, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state.OOMKilled, killNoted(c.monitor):
		return results.FailOutOfMemory, c.cli.Engine + " says that the kernel killed it for lack of memory (OOMKilled)"
	case c.kills > 0:
		return results.FailOutOfMemory, fmt.Sprintf("the kernel killed %s of the container for lack of memory: "+
			"raise the limit that the container's args set", text.Count(c.kills, "process"))
	case notRunText.MatchString(c.logEnd()):
		return results.FailNotFound, "its program is not in the image or cannot be run: set the key command: " +
			"to one that is"
	case c.state.Error != "":
		return "", fmt.Sprintf("%s says %q", c.cli.Engine, text.Shorten(c.state.Error))
	}
	return "", ""
}

// Tree returns the container's processes; none where this machine cannot see
// them.
func (c *Container) Tree() ([]proc.Process, error) {
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
func (c *Container) Usage() (process.Usage, error) {
	procs, err := c.Tree()
	return process.UsageOf(procs), err
}

// KillNow makes a Stop that runs or comes go straight to SIGKILL.
func (c *Container) KillNow() { c.killNowOnce.Do(func() { close(c.killNow) }) }

// PID is that of the container's first process as this machine sees it; 0: it
// does not.
func (c *Container) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// LogDelay is how long the log and the end of a failing container may take to
// come through its engine.
func (c *Container) LogDelay() time.Duration { return c.cli.Limits.LogDelay }
