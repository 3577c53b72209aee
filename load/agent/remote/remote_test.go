package remote

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/executable"
)

// ssh keeps a connection for later in the background (ControlPersist), which holds
// the pipe of the scp that began it: the copy has succeeded nevertheless.
func TestCopyWithAConnectionThatStays(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scp": "#!/bin/sh\nsleep 300 &\necho $! >" + filepath.Join(dir, "pid") + "\n", "ssh": "#!/bin/sh\nexit 0\n",
	} {
		if err := executable.Write(filepath.Join(dir, name), text); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})

	done := make(chan error, 1)
	go func() {
		agent, err := copyingPlace("host").Dial(t.Context())
		if err == nil {
			err = agent.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Dial() = %v", err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("Dial() waits for the connection that stays")
	}
}
