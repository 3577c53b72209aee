package amd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/benchrig/bench/gpu/device"
)

const (
	// toolLimit bounds a call of one of AMD's tools. amd-smi took 15 s on a machine
	// with 16 GPUs.
	toolLimit = 20 * time.Second

	// toolGrace is from SIGTERM to SIGKILL: rocm-smi leaves a lock behind when
	// it is killed.
	toolGrace = 3 * time.Second
)

// errToolLost is the error of a tool that is not asked again.
var errToolLost = errors.New("not asked again")

// tool runs one of the vendors' programs, at most one call at a time, and
// gives it up when it proves useless. A call may outlast the context that it
// was made under, because these programs must not be killed lightly; Close
// ends what is left.
type tool struct {
	name  string
	spoke atomic.Bool // it has given output
	run   func(ctx context.Context, argv []string) ([]byte, error)

	mu     sync.Mutex
	over   chan struct{} // closed when the last call is over; nil before the first
	end    context.CancelFunc
	path   string // in place of name, where PATH has none
	lost   error  // why it is not asked again
	closed bool
	cpu    time.Duration // of calls that are over
}

// newTool runs the program through options.RunTool, or for real.
func newTool(name string, options device.Options) *tool {
	t := &tool{name: name, path: name, run: options.RunTool}
	if t.run == nil {
		t.run = t.runReal
	}
	return t
}

// toolAnswer is what a call gave.
type toolAnswer struct {
	out []byte
	err error
}

// call runs the program with these arguments and returns its stdout. It
// returns when ctx is done even if the program does not end. Output beside an
// error is what the program said before it failed.
func (t *tool) call(ctx context.Context, args ...string) ([]byte, error) {
	if err := t.free(ctx); err != nil {
		return nil, err
	}

	answers, err := t.start(ctx, args)
	if err != nil {
		return nil, err
	}

	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%s %s: %w", t.name, strings.Join(args, " "), context.Cause(ctx))
	case <-time.After(toolLimit + toolGrace + time.Second): // no signal reaches it
		return nil, t.giveUp("it hangs in " + strings.Join(args, " "))
	case a := <-answers:
		return a.out, t.judge(args, a.out, a.err)
	}
}

// start begins a call whose end does not depend on ctx.
func (t *tool) start(ctx context.Context, args []string) (<-chan toolAnswer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.closed {
		return nil, fmt.Errorf("%s: %w: it is closed", t.name, errToolLost)
	}

	running, cancel := context.WithTimeout(context.WithoutCancel(ctx), toolLimit)
	over := make(chan struct{})
	t.over, t.end = over, cancel
	argv := append([]string{t.path}, args...)
	answers := make(chan toolAnswer, 1)
	go func() {
		defer close(over)
		defer cancel()
		out, err := t.runAnywhere(running, argv)
		answers <- toolAnswer{out, err}
	}()
	return answers, nil
}

// free waits for the end of the call before: a program that hangs is not
// started again beside itself.
func (t *tool) free(ctx context.Context) error {
	t.mu.Lock()
	over, lost := t.over, t.lost
	t.mu.Unlock()
	if lost != nil {
		return lost
	}
	if over == nil {
		return nil
	}

	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: the call before has not ended: %w", t.name, context.Cause(ctx))
	}
}

// runAnywhere looks for AMD's tools in ROCm's folder too: PATH often holds it
// only in a login shell.
func (t *tool) runAnywhere(ctx context.Context, argv []string) ([]byte, error) {
	out, err := t.run(ctx, argv)
	if !missing(err) || argv[0] != t.name {
		return out, err
	}
	path := "/opt/rocm/bin/" + t.name
	out, second := t.run(ctx, append([]string{path}, argv[1:]...))
	if missing(second) {
		return nil, err
	}
	t.mu.Lock()
	t.path = path
	t.mu.Unlock()
	return out, second
}

// judge makes an error of an answer that has no use, and gives the tool up
// where it will never have one.
func (t *tool) judge(args []string, out []byte, err error) error {
	var exit *exec.ExitError
	ended := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) // by us
	switch {
	case missing(err):
		return t.giveUp("it is not installed")
	case errors.As(err, &exit) && signaled(exit) && !ended:
		return t.giveUp("it ended with " + exit.Error())
	case err != nil:
		said := device.FirstLine(out)
		if said == "" && exit != nil {
			said = device.LastLine(exit.Stderr)
		}
		return fmt.Errorf("%s %s: %w: %s", t.name, strings.Join(args, " "), err, said)
	case strings.TrimSpace(string(out)) == "":
		if t.spoke.Load() { // it works, but not for this
			return fmt.Errorf("%s %s: no output", t.name, strings.Join(args, " "))
		}
		return t.giveUp("it gave no output for " + strings.Join(args, " "))
	}

	t.spoke.Store(true)
	return nil
}

func (t *tool) giveUp(why string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = fmt.Errorf("%s: %w: %s", t.name, errToolLost, why)
	return t.lost
}

// missing says that there is no such program.
func missing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

func signaled(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// runReal runs a program without the caches that answer with old values, and
// without the start-up of a CPU library that is known to hang.
func (t *tool) runReal(ctx context.Context, argv []string) ([]byte, error) {
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	device.AskToEnd(command)
	command.Env = append(command.Env, "AMDSMI_KFD_CACHE_TTL_MS=0", "AMDSMI_PROCESS_INFO_CACHE_MS=0",
		"AMDSMI_DISABLE_CPU_INIT=1")
	command.WaitDelay = toolGrace
	out, err := command.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it succeeded, and a child of it keeps the pipe
	}

	t.mu.Lock()
	t.cpu += device.CPUOf(command.ProcessState)
	t.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}

	return out, err
}

// Name is that of the program.
func (t *tool) Name() string { return t.name }

// ProgramCPU is the CPU time of all calls that are over.
func (t *tool) ProgramCPU() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cpu
}

// Close ends a call that is still running, first kindly, and waits for its
// end, but not for ever: a program can hang in the kernel, where no signal
// reaches it.
func (t *tool) Close() error {
	t.mu.Lock()
	over, end := t.over, t.end
	t.closed = true
	t.mu.Unlock()
	if over == nil {
		return nil
	}

	end()
	select {
	case <-over:
		return nil
	case <-time.After(toolGrace + time.Second):
		return fmt.Errorf("%s: it does not end", t.name)
	}
}
