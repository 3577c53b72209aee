package process

import (
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
)

// Where memory runs out, the kernel is to end a server and not this program.
func TestServersAreOfferedToTheKernel(t *testing.T) {
	t.Parallel()
	p := start(t, fakeengine.Config{})
	text, err := os.ReadFile(proc.System.File(p.Info().PID, "oom_score_adj"))
	if got := strings.TrimSpace(string(text)); err != nil || got != "500" {
		t.Errorf("oom_score_adj of the server = %q, %v, want 500", got, err)
	}
}

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)

	t.Setenv("GOMEMLIMIT", "1GiB") // the runtime has read it
	limitMemory()
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("the user's limit was replaced by %d", got)
	}

	t.Setenv("GOMEMLIMIT", "")
	limitMemory()
	all := proc.System.Memory(proc.Cgroups)
	if got := debug.SetMemoryLimit(-1); got >= all || got < all/2 {
		t.Errorf("memory limit %d, want a part of %d", got, all)
	}
}

// A crash of this program is distinguished from exit code 2, which says that nothing
// was started; it leaves no core dump, and what it starts may leave one.
func TestCrashEndsBySignal(t *testing.T) {
	const variable = "PROCESS_TEST_CRASH"
	if os.Getenv(variable) != "" {
		crashBySignal()
		debug.SetMaxStack(1 << 16)
		_ = deep(0, 1)
	}

	child := exec.Command(os.Args[0], "-test.run=TestCrashEndsBySignal") //nolint:gosec // this program itself
	child.Env, child.Dir = append(os.Environ(), variable+"=1"), t.TempDir()
	_ = child.Run()
	status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
		t.Errorf("the program ended with %v, want SIGABRT and no core dump", child.ProcessState)
	}
}

// deep calls itself until the stack is used up.
func deep(n, step int) int {
	if step == 0 {
		return n
	}
	return deep(n+step, step) + 1
}
