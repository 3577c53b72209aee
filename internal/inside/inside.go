// Package inside opens and changes files of a run folder, which may come from
// anybody.
//
// The folder and a name within it go in, an open file comes out. Nothing is
// reached through a symbolic link that leads out of the folder (os.Root), nothing
// is opened but plain files, and nothing is written that has a second name: a
// link could lead to a file of the user, a pipe would block whoever opens it.
package inside

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens a plain file; flag and mode are those of os.OpenFile.
func Open(root, name string, flag int, mode os.FileMode) (*os.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // files opened in it stay open

	path := filepath.Join(root, name)
	if info, err := dir.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 && flag&os.O_EXCL == 0 {
		return nil, fmt.Errorf("open %s: it is a symbolic link, which no run folder has; remove it", path)
	}

	f, err := dir.OpenFile(name, flag|unix.O_NONBLOCK, mode)
	switch {
	case errors.Is(err, unix.ENXIO):
		return nil, notPlain(path)
	case err != nil:
		return nil, explained(path, err)
	}

	if err := check(f, path, flag); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// check refuses what is not a plain file, and one with a second name where it is
// written in place.
func check(f *os.File, path string, flag int) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}

	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	switch {
	case stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return notPlain(path)
	case writes && stat.Nlink > 1:
		return fmt.Errorf("open %s: the file has %d names (hard links), so that writing would change another file; "+
			"copy the folder without links", path, stat.Nlink)
	}
	return nil
}

// ErrNotPlain says that something else than a plain file is where one should be.
var ErrNotPlain = errors.New("it is not a plain file, as all are in a run folder; remove it")

func notPlain(path string) error { return fmt.Errorf("open %s: %w", path, ErrNotPlain) }

// explained says what to do about a link that leads out of the folder.
func explained(path string, err error) error {
	if strings.Contains(err.Error(), "escapes from parent") { // os has no value for it
		return fmt.Errorf("open %s: a symbolic link leads out of the run folder, which no run folder has; remove it",
			path)
	}
	return err
}

// Replace makes the file hold what write produces, or leaves it as it was: the
// content goes to a new file in the same folder, is synced, renamed, and the
// folder synced. Missing folders are made.
func Replace(root, name string, write func(io.Writer) error) error {
	if err := MkdirAll(root, filepath.Dir(name)); err != nil {
		return err
	}

	hidden := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".tmp-"+rand.Text())
	f, err := Open(root, hidden, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { _ = Remove(root, hidden) }() // gone already once renamed

	if err := fill(f, write); err != nil {
		return err
	}
	if err := Rename(root, hidden, name); err != nil {
		return err
	}
	return syncFolder(root, filepath.Dir(name))
}

// fill writes, syncs and closes f.
func fill(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(root, name string) error {
	return within(root, name, func(dir *os.Root) error {
		f, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := f.Sync(); err != nil {
			return fmt.Errorf("sync folder %s: %w", filepath.Join(root, name), err)
		}
		return nil
	})
}

// MkdirAll makes a folder and those that contain it.
func MkdirAll(root, name string) error {
	return within(root, name, func(dir *os.Root) error { return dir.MkdirAll(name, 0o777) })
}

// Mkdir makes a folder that was not there.
func Mkdir(root, name string) error {
	return within(root, name, func(dir *os.Root) error { return dir.Mkdir(name, 0o777) })
}

// Rename gives a file another name, in place of what has it.
func Rename(root, from, to string) error {
	return within(root, to, func(dir *os.Root) error { return dir.Rename(from, to) })
}

// RenameWith is Rename with the flags of renameat2(2). The folders of both names
// are open while it renames: a link that takes the place of one changes nothing.
func RenameWith(root, from, to string, flags uint) error {
	return within(root, from, func(r *os.Root) error {
		source, err := r.Open(filepath.Dir(from))
		if err != nil {
			return err
		}
		defer source.Close()
		target, err := r.Open(filepath.Dir(to))
		if err != nil {
			return err
		}
		defer target.Close()

		return unix.Renameat2(int(source.Fd()), filepath.Base(from), int(target.Fd()), filepath.Base(to), flags)
	})
}

// Remove removes a file, or a link itself.
func Remove(root, name string) error {
	return within(root, name, func(dir *os.Root) error { return dir.Remove(name) })
}

// Exists reports whether there is something of that name, a link included.
func Exists(root, name string) bool {
	return within(root, name, func(dir *os.Root) error { _, err := dir.Lstat(name); return err }) == nil
}

func within(root, name string, do func(*os.Root) error) error {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // nothing was written through it

	if err := do(dir); err != nil {
		return explained(filepath.Join(root, name), err)
	}
	return nil
}

// parents are the folders of a run that hold folders.
var parents = []string{"steps", "attempts", "lives"}

// Split finds the run folder of a path in the folder of a step
// (RUN/steps/ID), of an attempt (RUN/attempts/ID/N) or of a server start
// (RUN/lives/ID). A path that does not is split before its last element.
func Split(path string) (root, name string) {
	path = filepath.Clean(path)
	elements := strings.Split(path, string(filepath.Separator))
	for i, element := range slices.Backward(elements[:len(elements)-1]) {
		if i > 0 && slices.Contains(parents, element) {
			root = filepath.Join(elements[:i]...)
			if elements[0] == "" {
				root = string(filepath.Separator) + root
			}
			return root, filepath.Join(elements[i:]...)
		}
	}
	return filepath.Dir(path), filepath.Base(path)
}
