package launchers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// containerLimits bound every call of a container engine's client: the client
// of an engine that hangs must not hang the run.
type containerLimits struct {
	ask    time.Duration // questions: inspect, ps, version
	run    time.Duration // start of a container whose image is there
	kill   time.Duration // kill, and what stop may take beyond the grace
	remove time.Duration
	vanish time.Duration // from the removal until its processes are gone
	words  time.Duration // from a fatal line to its end and log, which come by way of the engine
	again  time.Duration // between two tries
}

func defaultContainerLimits() containerLimits {
	return containerLimits{
		ask: 10 * time.Second, run: 3 * time.Minute, kill: 20 * time.Second, remove: time.Minute, vanish: 10 * time.Second, words: 5 * time.Second,
		again: time.Second,
	}
}

// containerCLI is the client of a container engine.
type containerCLI struct {
	engine  string // "docker" or "podman"
	program string // its path
	env     []string
}

// findContainerCLI finds the client of the engine asked for, or that of
// whichever answers.
func findContainerCLI(ctx context.Context, engine, dir string, env []string, limits containerLimits) (containerCLI, *results.Failure) {
	candidates := []string{engine}
	if engine == "" {
		candidates = []string{dockerEngine, podmanEngine}
	}
	var whys []string
	class := results.FailNotFound
	for _, name := range candidates {
		program, err := process.LookPath(name, dir, env)
		if err != nil {
			whys = append(whys, err.Error())
			continue
		}
		cli := containerCLI{engine: name, program: program, env: env}
		if _, err := cli.call(ctx, limits.ask, "version", "--format", "{{.Server.Version}}"); err != nil {
			class = results.FailContainer
			whys = append(whys, err.Error())
			continue
		}
		return cli, nil
	}
	return containerCLI{}, results.Failf(class, "container: no container engine answers: %s; start it, or name another in the key engine:",
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
		return fmt.Sprintf("%s: no end after %v", e.call, e.hung)
	case e.stderr != "":
		return fmt.Sprintf("%s: %s", e.call, shorten(e.stderr))
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

// maxOutput is kept of what a client writes.
const maxOutput = 1 << 20

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// call runs the client and returns its output. A limit of 0 leaves it to ctx.
// The client is killed with all its processes when the time has passed; what
// it asked of the engine may happen nevertheless.
func (c containerCLI) call(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	cmd := exec.CommandContext(limited, c.program, args...)
	var stdout, stderr bounded
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is ours to handle
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if err == nil {
		return strings.TrimSpace(stdout.String()), nil
	}
	failed := &cliError{call: c.engine + " " + args[0], code: -1, stderr: strings.TrimSpace(stderr.String()), err: err}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		failed.code = exit.ExitCode()
	}
	if limited.Err() != nil {
		failed.err = context.Cause(limited)
		if ctx.Err() == nil {
			failed.hung = limit
		}
	}
	return strings.TrimSpace(stdout.String()), failed
}

// containerState is the part of an engine's knowledge that is used.
type containerState struct {
	Running    bool
	Restarting bool
	PID        int `json:"Pid"`
	ExitCode   int
	OOMKilled  bool
	Error      string
}

// inspect asks for a container's state; noSuch tells errors apart.
func (c containerCLI) inspect(ctx context.Context, limit time.Duration, id string) (containerState, error) {
	var state containerState
	text, err := c.call(ctx, limit, "inspect", "--type", "container", "--format", "{{json .State}}", id)
	if err != nil {
		return state, err
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return state, fmt.Errorf("%s inspect: %q is no state: %w", c.engine, shorten(text), err)
	}
	return state, nil
}

// labelled lists the ids of all containers, running or not, with a label.
func (c containerCLI) labelled(ctx context.Context, limit time.Duration, label string) ([]string, error) {
	text, err := c.call(ctx, limit, "ps", "-a", "--no-trunc", "--filter", "label="+label, "--format", "{{.ID}}")
	if err != nil {
		return nil, err
	}
	return slices.Collect(strings.FieldsSeq(text)), nil
}

// remove ends a container whatever its state, and proves that the engine does
// not know it any more.
func (c containerCLI) remove(ctx context.Context, limits containerLimits, id string) error {
	const tries = 3
	var err error
	for range tries {
		_, err = c.call(ctx, limits.remove, "rm", "-f", id)
		_, still := c.inspect(ctx, limits.ask, id)
		switch {
		case noSuch(still):
			return nil
		case err == nil && still == nil:
			err = fmt.Errorf("%s rm: it says that it removed container %s, which is still there", c.engine, id)
		case err == nil:
			err = still
		}
		if !pause(ctx, limits.again) {
			break
		}
	}
	return err
}
