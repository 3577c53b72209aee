// Package userfile opens and writes files that a user names.
//
// A path goes in; an open file, its content or a complete new file comes out. It
// waits for no pipe and reads no device, which may be in a folder of somebody else
// under the name of a file; what the user's shell gives as a file (/dev/stdin,
// /dev/fd/63) is the exception.
package userfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/usage"
)

// MaxText is more than a text that people write or read has, in bytes: a scenario,
// a configuration.
const MaxText = 64 << 20

// Open opens a file for reading, or a folder.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENXIO) {
		return nil, notPlain("open", path, "a socket or a device")
	}
	if err != nil {
		return nil, err
	}

	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() && !fromShell(path) {
		err = notPlain("open", path, kindOf(info.Mode()))
	}
	if err != nil {
		_ = f.Close() // it was not read
		return nil, err
	}
	return f, nil
}

// Read returns the content of a file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read

	return ReadAll(f, path, limit)
}

// ReadAll returns what is left of r, at most limit bytes. name is for messages.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it has more than the %d bytes that are read", name, limit)
	}
	return data, nil
}

// Write makes the file hold what write produces, or leaves it as it was. The folder
// must exist. Where something else than a plain file has the name, such as a link,
// it is refused: a link could lead to another file of the user.
func Write(path string, write func(io.Writer) error) error {
	if fromShell(path) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}

	if err := Writable(path); err != nil {
		return err
	}
	return inside.Replace(filepath.Dir(path), filepath.Base(path), write)
}

// Writable is the error of a path that something else than a plain file has.
func Writable(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil //nolint:nilerr // nothing has the name, or writing says what is wrong
	}
	return notPlain("write", path, kindOf(info.Mode()))
}

// fromShell reports whether a path is one by which a shell gives its pipes.
func fromShell(path string) bool {
	path = filepath.Clean(path)
	if strings.HasPrefix(path, "/dev/shm/") {
		return false
	}
	return strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/self/fd/")
}

func notPlain(verb, path, kind string) error {
	return usage.Errorf("%s %s: it is %s, not a plain file; remove it, or name another file", verb, path, kind)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
