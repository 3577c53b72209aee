package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results"
)

// WriteLive replaces live.json. It is not synced: after a power cut the file
// has nothing to say.
func (f *Folder) WriteLive(l *results.Live) error {
	l.Format = results.FormatVersion
	data, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write %s: %w", results.LiveName, err)
	}

	const beside = "." + results.LiveName + ".tmp"
	_ = f.RemoveOwn(beside) // what a killed process has left, or a link
	file, err := f.OpenOwn(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("write %s: %w", results.LiveName, err)
	}

	_, err = file.Write(append(secrets.Known().JSON(data), '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = inside.Rename(f.dir, f.ownName(beside), f.ownName(results.LiveName))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", results.LiveName, err)
	}
	return nil
}

// RemoveLive says that nobody carries out the run any more.
func (f *Folder) RemoveLive() error {
	if err := f.RemoveOwn(results.LiveName); err != nil {
		return fmt.Errorf("remove %s: %w", results.LiveName, err)
	}
	return nil
}

// ReadLive reads what the processes that carry out a run say, the one of the
// run as a whole first, then those of jobs. None is not an error.
func (f *Folder) ReadLive() ([]results.Live, error) {
	paths := []string{filepath.Join(f.dir, results.LiveName)}
	paths = append(paths, ofJobs(filepath.Join(f.dir, results.JobsName), results.LiveName)...)
	var all []results.Live
	for _, path := range paths {
		var one results.Live
		err := readVersioned(path, &one)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			all = append(all, one)
		}
	}
	return all, nil
}

// ReadResult reads the result of a step that has ended.
func (f *Folder) ReadResult(step string) (*results.Result, error) {
	result := &results.Result{}
	if err := readVersioned(filepath.Join(f.StepDir(step), results.ResultName), result); err != nil {
		return nil, err
	}
	return result, nil
}

// Writer is the process that holds the lock of the run folder, by the kernel's
// list: nothing is taken, so that nobody who wants to write is turned away.
// known is false where the list is not available; locks of other machines are not
// in it.
func (f *Folder) Writer() (pid int, held, known bool) {
	path := filepath.Join(f.dir, results.LockName)
	inode, ok := inodeOf(path)
	if !ok {
		return 0, false, true // nobody ever wrote it
	}
	locks, err := proc.System.Flocks()
	if err != nil {
		return 0, false, false
	}

	note, _ := ReadPlain(path) // "": not noted
	noted, _ := strconv.Atoi(strings.TrimSpace(string(note)))
	for _, lock := range locks {
		if lock.Exclusive && lock.PID == noted && lock.Inode == inode {
			return lock.PID, true, true
		}
	}
	return 0, false, true
}

// inodeOf is the number of a file in its file system, as the kernel writes it.
func inodeOf(path string) (string, bool) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return "", false
	}
	return strconv.FormatUint(stat.Ino, 10), true
}
