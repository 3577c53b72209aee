package store

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// inodeOf is the number of a file in its file system, as the kernel writes it.
func inodeOf(path string) (string, bool) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return "", false
	}
	return strconv.FormatUint(stat.Ino, 10), true
}
