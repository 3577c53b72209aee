package newfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The umask of the process decides about the mode. The test changes that of the
// whole test program, which has no other test.
func TestUmask(t *testing.T) {
	for umask, want := range map[int]os.FileMode{0o022: 0o644, 0o027: 0o640, 0o002: 0o664, 0o077: 0o600} {
		path := filepath.Join(t.TempDir(), "result.json")
		before := syscall.Umask(umask)
		f, err := Beside(path)
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("umask %03o: mode %v, %v, want %v", umask, info.Mode().Perm(), err, want)
		}
		if filepath.Dir(f.Name()) != filepath.Dir(path) {
			t.Errorf("Beside(%s) = %s, want the same folder", path, f.Name())
		}
		_ = f.Close()
	}
}
