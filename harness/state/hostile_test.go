package state

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A state folder in a place where others write, such as /tmp, may hold anything:
// no lock and no note goes through it to another file, and none hangs.
func TestStateFilesAreNoLinks(t *testing.T) {
	t.Parallel()
	for kind, put := range map[string]func(path, victim string) error{
		"link": func(path, victim string) error { return os.Symlink(victim, path) },
		"name": func(path, victim string) error { return os.Link(victim, path) },
		"pipe": func(path, _ string) error { return unix.Mkfifo(path, 0o600) },
	} {
		root := t.TempDir()
		box, err := open(root, "host")
		if err != nil {
			t.Fatal(err)
		}
		victim := filepath.Join(root, "precious")
		if err := os.WriteFile(victim, []byte("the user's"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{filepath.Join(box.Dir(), lockName), box.notes("/run")} {
			if err := put(path, victim); err != nil {
				t.Fatal(err)
			}
		}

		if lock, err := box.Lock("run"); err == nil {
			_ = lock.Release()
			t.Errorf("%s: Lock() = nil", kind)
		}
		if notes, err := box.OpenNotes("/run"); err == nil {
			_ = notes.Close()
			t.Errorf("%s: OpenNotes() = nil", kind)
		}
		if owner, ok := box.Owner(); ok {
			t.Errorf("%s: Owner() = %v, want nobody", kind, owner)
		}
		if text, _ := os.ReadFile(victim); string(text) != "the user's" {
			t.Errorf("%s: the user's file holds %q", kind, text)
		}
	}
}
