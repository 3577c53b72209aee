package container

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A client that succeeds while a child of it keeps its output open has
// succeeded, and is not waited for.
func TestCallLeavesBackgroundChildrenAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "docker")
	if err := os.WriteFile(program, []byte("sleep 300 &\necho $! > \"$1\"\necho 27.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cli := CLI{Engine: "docker", Limits: DefaultLimits(), program: "/bin/sh", env: os.Environ()}

	began := time.Now()
	output, err := cli.call(t.Context(), 4*time.Minute, program, filepath.Join(dir, "pid"))
	if err != nil || output != "27.1" {
		t.Errorf("call() = %q, %v, want the output of a success", output, err)
	}
	if took := time.Since(began); took > 4*time.Minute {
		t.Errorf("call() took %v, want it not to wait for the child", took)
	}

	text, _ := os.ReadFile(filepath.Join(dir, "pid"))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
