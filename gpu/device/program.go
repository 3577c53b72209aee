package device

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// toolTimeout bounds a call of a vendor's program, which can hang when a GPU
// has fallen off its bus.
const toolTimeout = 10 * time.Second

// ToolMeter runs programs and counts their CPU time.
type ToolMeter struct{ spent atomic.Int64 }

// Run runs a program for at most 10 s, adds its CPU time to the meter and returns its stdout.
func (m *ToolMeter) Run(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	AskToEnd(command)
	out, err := command.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it succeeded, and a child of it keeps the pipe
	}
	m.spent.Add(int64(CPUOf(command.ProcessState)))
	return out, err
}

// ProgramCPU is the CPU time of the programs so far.
func (m *ToolMeter) ProgramCPU() time.Duration { return time.Duration(m.spent.Load()) }

// RunTool runs a program for at most 10 s and returns its stdout; nobody counts its CPU time.
func RunTool(ctx context.Context, argv []string) ([]byte, error) {
	return new(ToolMeter).Run(ctx, argv)
}

// AskToEnd prepares a command: words that no locale changes, and a polite end
// before the hard one, since some tools leave a lock behind when killed.
func AskToEnd(command *exec.Cmd) {
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	command.Cancel = func() error { return command.Process.Signal(unix.SIGTERM) }
	command.WaitDelay = time.Second // a child of it may keep the pipe open
}

// CPUOf returns the user and system time of a process that has ended; 0 for nil.
func CPUOf(state *os.ProcessState) time.Duration {
	if state == nil {
		return 0
	}
	return state.UserTime() + state.SystemTime()
}

// ToolRunner runs a program and returns its stdout.
type ToolRunner = func(context.Context, []string) ([]byte, error)
