package amd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/fakegpu"
)

func TestToolRuns(t *testing.T) {
	fakegpu.Tools(t, map[string]string{"some-smi": `echo "$LC_ALL $AMDSMI_DISABLE_CPU_INIT" "$@"; echo noise >&2`})
	some := newTool("some-smi", device.Options{})
	defer func() { _ = some.Close() }()
	for range 2 {
		out, err := some.call(t.Context(), "a b", "-c")
		if want := "C.UTF-8 1 a b -c\n"; err != nil || string(out) != want {
			t.Errorf("call = %q, %v, want %q", out, err, want)
		}
	}
	if some.ProgramCPU() <= 0 {
		t.Error("programs took no CPU time")
	}
}

func TestToolFails(t *testing.T) {
	tests := []struct {
		name, script, want string
		lost               bool
	}{
		{"exit code, said on stdout", `echo "ERROR: no driver"; exit 9`, "exit status 9: ERROR: no driver", false},
		{
			"exit code, said by Python", `printf 'Traceback\nTypeError: bad\n' >&2; exit 1`,
			"exit status 1: TypeError: bad", false,
		},
		{"signal", `kill -SEGV $$`, "signal: segmentation fault", true},
		{"nothing said", `echo`, "gave no output for list --json", true},
	}
	for _, test := range tests {
		fakegpu.Tools(t, map[string]string{"some-smi": test.script})
		some := newTool("some-smi", device.Options{})
		_, err := some.call(t.Context(), "list", "--json")
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, errToolLost) != test.lost {
			t.Errorf("%s: error %v, want %q, given up: %t", test.name, err, test.want, test.lost)
		}
		if _, again := some.call(t.Context(), "list"); errors.Is(again, errToolLost) != test.lost {
			t.Errorf("%s: second call: error %v, given up: %t", test.name, again, test.lost)
		}
		_ = some.Close()
	}
}

func TestToolOfROCm(t *testing.T) {
	var asked []string
	run := func(_ context.Context, argv []string) ([]byte, error) {
		asked = append(asked, argv[0])
		if argv[0] == "rocm-smi" {
			return nil, &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
		}
		return []byte("{}"), nil
	}
	some := newTool("rocm-smi", device.Options{RunTool: run})
	for range 2 {
		if out, err := some.call(t.Context()); err != nil || string(out) != "{}" {
			t.Errorf("call = %q, %v", out, err)
		}
	}
	if got, want := strings.Join(asked, " "), "rocm-smi /opt/rocm/bin/rocm-smi /opt/rocm/bin/rocm-smi"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func TestToolMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, name := range []string{"some-smi"} {
		_, err := newTool(name, device.Options{}).call(t.Context(), "x")
		if !errors.Is(err, errToolLost) || !strings.Contains(err.Error(), "not installed") {
			t.Errorf("call of a missing %s: error %v", name, err)
		}
	}
}

// A call outlasts its context, is not started beside itself, and is ended by
// Close, kindly.
func TestToolHangs(t *testing.T) {
	folder := t.TempDir()
	pidFile, ended := filepath.Join(folder, "pid"), filepath.Join(folder, "ended")
	fakegpu.Tools(t, map[string]string{"some-smi": `trap 'echo yes >` + ended + `; exit 0' TERM
echo $$ >` + pidFile + `.new; mv ` + pidFile + `.new ` + pidFile + `
while :; do sleep 0.05; done`})
	some := newTool("some-smi", device.Options{})
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		began := time.Now()
		_, err := some.call(ctx, "metric")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Minute {
			t.Fatalf("call after %s: error %v, want %v", time.Since(began), err, context.DeadlineExceeded)
		}
	}
	text := eventually(t, pidFile)
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the program was ended together with its context: %v", err)
	}
	if err := some.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the program is there after Close: %v", err)
	}
	if got := eventually(t, ended); got != "yes\n" {
		t.Errorf("the program was not asked to end: %q", got)
	}
	if _, err := some.call(t.Context(), "metric"); !errors.Is(err, errToolLost) {
		t.Errorf("call after Close: error %v, want %v", err, errToolLost)
	}
}

// A program that even SIGKILL does not end holds up nobody.
func TestToolInTheKernel(t *testing.T) {
	release := make(chan struct{})
	run := func(context.Context, []string) ([]byte, error) {
		<-release
		return nil, errors.New("ended late")
	}
	some := newTool("some-smi", device.Options{RunTool: run})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := some.call(ctx, "metric"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("call: error %v, want %v", err, context.DeadlineExceeded)
		}
		cancel()
	}
	close(release)
	if err := some.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// eventually reads a file that another process is about to write.
func eventually(t *testing.T, path string) string {
	t.Helper()
	for range 9000 {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not written", path)
	return ""
}
