package stranger

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// A stranger that notices nothing would prove nothing.
func TestNotices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		take func(s Config, pid int) error
		says string
	}{
		{
			"a semaphore", func(s Config, _ int) error { return os.Remove(filepath.Join(s.Shm, s.Files()[0])) },
			"sem.mp-stranger",
		},
		{"a block that is handed over", func(s Config, _ int) error {
			return os.Remove(filepath.Join(s.Shm, s.Files()[2]))
		}, "while nobody had it open"},
		{
			"its lock", func(s Config, _ int) error { return os.Remove(filepath.Join(s.Dir, "stranger.lock")) },
			"lock file",
		},
		{
			"its socket", func(s Config, _ int) error { return os.Remove(filepath.Join(s.Dir, "stranger.sock")) },
			"does not answer",
		},
		{"its memory of a GPU", func(s Config, pid int) error {
			return os.Remove(filepath.Join(s.Dir, "kfd", strconv.Itoa(pid)))
		}, "was taken"},
		{"its container", func(s Config, _ int) error { return os.Remove(filepath.Join(s.Dir, "box")) }, "was taken"},
		{"a signal", func(_ Config, pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }, "terminated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // longer than the address of a socket may be
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			config := Config{
				Shm: dir, ID: rand.Text(), Dir: dir, Ready: filepath.Join(dir, "ready"),
				Noticed: filepath.Join(dir, "noticed"),
				Kept:    []string{filepath.Join(dir, "kfd", "PID"), filepath.Join(dir, "box")},
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), config.Env())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })

			await(t, config.Ready)
			kept := filepath.Join(dir, "kfd", strconv.Itoa(cmd.Process.Pid))
			if err := errors.Join(os.MkdirAll(kept, 0o755), os.Mkdir(filepath.Join(dir, "box"), 0o755)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * pause) // until it has seen them
			if text, err := os.ReadFile(config.Noticed); err == nil {
				t.Errorf("it noticed %q before anything was taken", text)
			}
			if err := c.take(config, cmd.Process.Pid); err != nil {
				t.Fatal(err)
			}
			if text := await(t, config.Noticed); !strings.Contains(text, c.says) {
				t.Errorf("it noticed %q, want %q", text, c.says)
			}
		})
	}
}

// await waits for a file and returns what is in it.
func await(t *testing.T, path string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && (len(text) > 0 || strings.HasSuffix(path, "ready")) {
			return string(text)
		}
	}
	t.Fatalf("%s does not come", path)

	return ""
}
