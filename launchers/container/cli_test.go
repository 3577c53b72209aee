package container

import (
	"encoding/json"
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

// What docker and podman print of containers in the states that matter.
func TestStateLives(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]bool{
		`{"Status":"running","Running":true,"Paused":false,"Pid":7}`:                     true,
		`{"Status":"paused","Running":true,"Paused":true,"Pid":7}`:                       true, // docker
		`{"OciVersion":"1.0","Status":"paused","Running":false,"Paused":true,"Pid":7}`:   true, // podman
		`{"Status":"restarting","Running":false,"Restarting":true,"Pid":0,"ExitCode":1}`: true,
		`{"Status":"exited","Running":false,"Paused":false,"Pid":0,"ExitCode":0}`:        false,
		`{"Status":"created","Running":false,"Paused":false,"Restarting":false,"Pid":0}`: false,
		`{"Status":"exited","Running":false,"OOMKilled":true,"Pid":0,"ExitCode":137}`:    false,
	} {
		var s state
		if err := json.Unmarshal([]byte(printed), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.lives(); got != want {
			t.Errorf("lives() of %s = %t, want %t", printed, got, want)
		}
	}
}
