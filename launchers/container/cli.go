package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/output"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// Limits bound every call of a container engine's client: the client
// of an engine that hangs must not hang the run.
type Limits struct {
	Ask      time.Duration // questions: inspect, ps, version
	Run      time.Duration // start of a container whose image is there
	Kill     time.Duration // kill, and what stop may take beyond the grace
	Remove   time.Duration
	Vanish   time.Duration // from the removal until its processes are gone
	LogDelay time.Duration // from a fatal line to its end and log, which come by way of the engine
	Again    time.Duration // between two tries
}

// DefaultLimits are those of a machine that works.
func DefaultLimits() Limits {
	return Limits{
		Ask:      10 * time.Second,
		Run:      3 * time.Minute,
		Kill:     20 * time.Second,
		Remove:   time.Minute,
		Vanish:   10 * time.Second,
		LogDelay: 5 * time.Second,
		Again:    time.Second,
	}
}

// CLI is the client of a container engine.
type CLI struct {
	Engine  string // "docker" or "podman"
	Limits  Limits
	program string // its path
	dir     string // that it is called in; "": ours
	env     []string
}

// FindCLI finds the client of the engine asked for, or that of
// whichever answers.
func FindCLI(ctx context.Context, engine, dir string, env []string, limits Limits) (CLI, *results.Failure) {
	candidates := []string{engine}
	if engine == "" {
		candidates = []string{docker, podman}
	}

	var whys []string
	class := results.FailNotFound
	for _, name := range candidates {
		program, err := process.LookPath(name, dir, env)
		if err != nil {
			whys = append(whys, err.Error())
			continue
		}
		cli := CLI{Engine: name, Limits: limits, program: program, env: env}
		if _, err := cli.call(ctx, limits.Ask, "version", "--format", "{{.Server.Version}}"); err != nil {
			class = results.FailContainer
			whys = append(whys, err.Error())
			continue
		}
		return cli, nil
	}

	return CLI{}, results.Failf(class, "container: no container engine answers: %s; start it, or name another in the "+
		"key engine:",
		strings.Join(whys, "; "))
}

// cliError is a call that did not work.
type cliError struct {
	call   string // "docker run"
	code   int    // of the client; -1: it did not end by itself
	hung   time.Duration
	stderr string
	err    error
}

func (e *cliError) Error() string {
	switch {
	case e.hung > 0:
		return fmt.Sprintf("%s: still running after %v", e.call, e.hung)
	case e.stderr != "":
		return fmt.Sprintf("%s: %s", e.call, text.Shorten(e.stderr))
	}
	return fmt.Sprintf("%s: %v", e.call, e.err)
}

func (e *cliError) Unwrap() error { return e.err }

// noSuchText is how an engine says that an object does not exist. Its absence
// must not be read out of an engine that cannot be reached, which may also
// miss a file.
var noSuchText = regexp.MustCompile(`(?i)no such (container|object|image)|image not known|no container with (name|id)`)

// noSuch reports whether a call failed because its object does not exist.
func noSuch(err error) bool {
	failed, ok := errors.AsType[*cliError](err)
	return ok && failed.hung == 0 && failed.code > 0 && noSuchText.MatchString(failed.stderr)
}

// call runs the client and returns its output. A limit of 0 leaves it to ctx.
// The client is killed with all its processes when the time has passed; what
// it asked of the engine may happen nevertheless.
func (c CLI) call(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	return c.callTelling(ctx, limit, nil, args...)
}

// longestLine is how much of a line a client's user gets to see, in bytes.
const longestLine = 4 << 10

// callTelling is call, and tell gets each line of output when it comes; nil:
// nobody does.
func (c CLI) callTelling(ctx context.Context, limit time.Duration, tell func(string), args ...string) (string, error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = awake.WithTimeout(ctx, limit)
	}
	defer cancel()

	cmd := exec.CommandContext(limited, c.program, args...)
	var stdout, stderr output.Head
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &stdout, &stderr
	if tell != nil {
		lines := &output.Lines{Most: longestLine, Do: tell}
		cmd.Stdout = io.MultiWriter(&stdout, lines.Writer())
		cmd.Stderr = io.MultiWriter(&stderr, lines.Writer())
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is ours to handle
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // it succeeded, and a child of it keeps the pipe
		return stdout.String(), nil
	}

	failed := &cliError{call: c.Engine + " " + args[0], code: -1, stderr: stderr.String(), err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.code = exit.ExitCode()
	}
	if limited.Err() != nil {
		failed.err = context.Cause(limited)
		if ctx.Err() == nil {
			failed.hung = limit
		}
	}

	return stdout.String(), failed
}

// state is the part of an engine's knowledge that is used.
type state struct {
	Running    bool
	Restarting bool
	Paused     bool // podman does not call such a container running
	PID        int  `json:"Pid"`
	ExitCode   int
	OOMKilled  bool
	Error      string
}

// lives reports whether the container has not ended.
func (s state) lives() bool { return s.Running || s.Restarting || s.Paused }

// inspect asks for a container's state; noSuch classifies errors.
func (c CLI) inspect(ctx context.Context, id string) (state, error) {
	var found state
	output, err := c.call(ctx, c.Limits.Ask, "inspect", "--type", "container", "--format", "{{json .State}}", id)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal([]byte(output), &found); err != nil {
		return found, fmt.Errorf("%s inspect: %q is not a state: %w", c.Engine, text.Shorten(output), err)
	}
	return found, nil
}

// labelled lists the ids of all containers, running or not, with a label.
func (c CLI) labelled(ctx context.Context, label string) ([]string, error) {
	output, err := c.call(ctx, c.Limits.Ask, "ps", "-a", "--no-trunc", "--filter", "label="+label, "--format",
		"{{.ID}}")
	if err != nil {
		return nil, err
	}
	return slices.Collect(strings.FieldsSeq(output)), nil
}

// remove ends a container whatever its state, and proves that the engine does
// not know it any more.
func (c CLI) remove(ctx context.Context, id string) error {
	const tries = 3
	var err error
	for range tries {
		_, err = c.call(ctx, c.Limits.Remove, "rm", "-f", id)
		_, still := c.inspect(ctx, id)
		switch {
		case noSuch(still):
			return nil
		case err == nil && still == nil:
			err = fmt.Errorf("%s rm: it says that it removed container %s, which is still there", c.Engine, id)
		case err == nil:
			err = still
		}
		if !sleep.For(ctx, c.Limits.Again) {
			break
		}
	}

	return err
}
