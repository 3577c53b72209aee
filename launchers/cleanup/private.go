package cleanup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// PrivatePrefix begins the names of folders for the sockets of a server.
const PrivatePrefix = "bench-"

// RemovePrivate removes the folder of a server's sockets, with what is in it, if
// it is one that bench makes: so named, a folder and no link, of this user, and
// nobody else may write in it. "" and one that is gone are not an error.
func RemovePrivate(path string) error {
	if path == "" {
		return nil
	}

	var stat unix.Stat_t
	err := unix.Lstat(path, &stat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}

	ours := stat.Mode&unix.S_IFMT == unix.S_IFDIR && int(stat.Uid) == os.Geteuid() && stat.Mode&0o077 == 0
	if !ours || !strings.HasPrefix(filepath.Base(path), PrivatePrefix) {
		return fmt.Errorf("%s is not the folder that was made for a server's sockets; look at it, "+
			"and remove it by hand",
			path)
	}
	return os.RemoveAll(path)
}
