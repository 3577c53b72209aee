// Package newfile makes files that get their name once they are complete.
//
// A path goes in, a new empty file in the same folder comes out. Its mode is
// what the umask leaves of 0666, as of any file that a program makes: a mode set
// afterwards would ignore the umask.
package newfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Beside opens a new file in the folder of path, under a hidden name that no
// file had. The caller renames or removes it.
func Beside(path string) (*os.File, error) {
	dir, name := filepath.Split(path)
	hidden := filepath.Join(dir, "."+name+".tmp-"+rand.Text())
	return os.OpenFile(hidden, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// Place gives a finished file its name. Unless it is forced, the name must be free:
// else the error is fs.ErrExist.
func Place(from, to string, force bool) error {
	if force {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		return os.Rename(from, to)
	}
	return err
}
