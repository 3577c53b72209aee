package cleanup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

func TestRemovePrivate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		put     func(path, kept string) error
		removed bool
	}{
		{"ours", func(path, _ string) error { return os.Mkdir(path, 0o700) }, true},
		{"gone", func(string, string) error { return nil }, true},
		{"others may write in it", func(path, _ string) error {
			return os.Mkdir(path, 0o777)
		}, false},
		{"of another user", func(path, _ string) error { return os.Mkdir(path, 0o700) }, false},
		{"a link to a folder of the user", func(path, kept string) error { return os.Symlink(kept, path) }, false},
		{"a file", func(path, _ string) error { return os.WriteFile(path, nil, 0o600) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, kept := filepath.Join(t.TempDir(), "bench-abc"), t.TempDir()
			if err := os.WriteFile(filepath.Join(kept, "file"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := c.put(path, kept); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(path); err == nil && info.IsDir() {
				if err := os.WriteFile(filepath.Join(path, "socket"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "of another user" {
				if os.Getuid() != 0 {
					t.Skip("only root can give a folder away")
				}
				if err := os.Chown(path, 12345, -1); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "others may write in it" {
				if err := os.Chmod(path, 0o777); err != nil { // whatever the umask
					t.Fatal(err)
				}
			}

			err := RemovePrivate(path)
			if _, still := os.Lstat(path); (still != nil) != c.removed || (err == nil) != c.removed {
				t.Errorf("RemovePrivate() = %v, removed %v, want %v", err, still != nil, c.removed)
			}
			if _, err := os.Lstat(filepath.Join(kept, "file")); err != nil {
				t.Errorf("a file of the user is gone: %v", err)
			}
		})
	}
	other := t.TempDir()
	if err := os.Chmod(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := RemovePrivate(other); err == nil {
		t.Error("RemovePrivate() = nil for a folder with another name")
	}
}

// The folder of a server's sockets goes with what else a killed bench has left.
func TestCleanerRemovesPrivateFolder(t *testing.T) {
	t.Parallel()
	private := filepath.Join(t.TempDir(), "bench-abc")
	if err := os.MkdirAll(filepath.Join(private, "sockets"), 0o700); err != nil {
		t.Fatal(err)
	}
	lives := OpenLives([]results.Event{
		{Kind: results.LifeStarting, Life: "a", Process: &results.Process{
			Cookie: "run.x", BootID: proc.System.BootID(), Private: private,
		}},
		{Kind: results.LifeSpawned, Life: "a", Process: &results.Process{
			Cookie: "run.x", BootID: proc.System.BootID(), PID: 1 << 30, StartTime: 1,
		}},
	})
	left, err := Cleaner{}.Find(t.Context(), lives[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Cleaner{}).End(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(private); err == nil {
		t.Error("the folder is still there")
	}
}
