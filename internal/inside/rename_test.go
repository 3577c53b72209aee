package inside

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder is renamed within the run folder only, whatever links are there.
func TestRenameWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		link  bool // steps leads out of the run folder
		taken bool // the new name
		flags uint
		fails bool
	}{
		{"plain", false, false, 0, false},
		{"exchanged", false, true, unix.RENAME_EXCHANGE, false},
		{"not over another", false, true, unix.RENAME_NOREPLACE, true},
		{"through a link", true, false, 0, true},
	} {
		root, outside := t.TempDir(), t.TempDir()
		steps := filepath.Join(root, "steps")
		var err error
		if c.link {
			err = os.Symlink(outside, steps)
		} else {
			err = os.Mkdir(steps, 0o755)
		}
		if c.taken {
			err = errors.Join(err, os.Mkdir(filepath.Join(steps, "a"), 0o755))
		}
		if err = errors.Join(err, os.MkdirAll(filepath.Join(root, "attempts", "1"), 0o755)); err != nil {
			t.Fatal(err)
		}

		err = RenameWith(root, "attempts/1", "steps/a", c.flags)
		_, statErr := os.Lstat(filepath.Join(outside, "a"))
		switch {
		case statErr == nil:
			t.Errorf("%s: the folder was moved out of the run folder", c.name)
		case (err != nil) != c.fails:
			t.Errorf("%s: RenameWith() = %v, want an error: %t", c.name, err, c.fails)
		}
	}
}
