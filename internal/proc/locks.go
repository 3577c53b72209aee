package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Flock is a lock of flock(2) on a file of this machine.
type Flock struct {
	PID       int
	Inode     string
	Exclusive bool
}

// Flocks lists the locks that are held. Those of other machines on a shared
// file system are not among them.
func (fs FS) Flocks() ([]Flock, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), "locks"))
	if err != nil {
		return nil, err
	}

	return parseLocks(string(text)), nil
}

// parseLocks reads lines such as
// "1: FLOCK  ADVISORY  WRITE 4242 00:2f:1234 0 EOF"; others are left out.
func parseLocks(table string) []Flock {
	const kindField, modeField, pidField, fileField, fields = 1, 3, 4, 5, 6

	var locks []Flock
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < fields || words[kindField] != "FLOCK" {
			continue
		}
		pid, err := strconv.Atoi(words[pidField])
		if err != nil {
			continue
		}
		file := words[fileField]
		locks = append(locks, Flock{
			PID: pid, Inode: file[strings.LastIndexByte(file, ':')+1:],
			Exclusive: words[modeField] == "WRITE",
		})
	}

	return locks
}
