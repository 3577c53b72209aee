package gpu

import (
	"context"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// toolTimeout bounds a call of a vendor's program, which can hang when a GPU
// has fallen off its bus.
const toolTimeout = 10 * time.Second

// toolMeter runs programs and counts their CPU time.
type toolMeter struct{ spent atomic.Int64 }

func (m *toolMeter) run(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	askToEnd(command)
	out, err := command.Output()
	m.spent.Add(int64(cpuOf(command.ProcessState)))
	return out, err
}

// programCPU is the CPU time of the programs so far.
func (m *toolMeter) programCPU() time.Duration { return time.Duration(m.spent.Load()) }

func runTool(ctx context.Context, argv []string) ([]byte, error) {
	return new(toolMeter).run(ctx, argv)
}

// askToEnd prepares a command: words that no locale changes, and a polite end
// before the hard one, since some tools leave a lock behind when killed.
func askToEnd(command *exec.Cmd) {
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	command.Cancel = func() error { return command.Process.Signal(unix.SIGTERM) }
	command.WaitDelay = time.Second // a child of it may keep the pipe open
}

func cpuOf(state *os.ProcessState) time.Duration {
	if state == nil {
		return 0
	}
	return state.UserTime() + state.SystemTime()
}
