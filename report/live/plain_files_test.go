package live

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A run folder may come from anybody: a pipe in place of a log or a journal is
// refused at once, where opening it would wait for a writer.
func TestPipesAreNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	if lines, err := lastBytes(pipe); err == nil {
		t.Errorf("lastBytes(pipe) = %q, want an error", lines)
	}
	if events, err := new(Follower).newEvents(pipe); err == nil {
		t.Errorf("newEvents(pipe) = %v, want an error", events)
	}
	if at := lastLine(pipe, 100); at != 0 {
		t.Errorf("lastLine(pipe) = %d, want 0", at)
	}
}
