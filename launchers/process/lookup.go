package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNotFound says that the program to run does not exist or cannot be run.
var ErrNotFound = errors.New("program not found")

// LookPath finds the file that argv[0]=name runs: a name with a slash is taken
// relative to dir, another is looked up in the PATH of env, which is the
// child's environment and not ours.
func LookPath(name, dir string, env []string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("empty program name: %w", ErrNotFound)
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if err := executable(path); err != nil {
			return "", fmt.Errorf("%q: %w: %w", name, err, ErrNotFound)
		}
		return filepath.Abs(path)
	}

	search := pathOf(env)
	for _, folder := range filepath.SplitList(search) {
		if folder == "" {
			continue // the current folder is not searched
		}
		path := filepath.Join(folder, name)
		if executable(path) == nil {
			return path, nil
		}
	}

	if search != os.Getenv("PATH") { //nolint:forbidigo // only compared: the user knows that one
		return "", fmt.Errorf("%q is not in PATH, which is %q for it: %w", name, search, ErrNotFound)
	}

	return "", fmt.Errorf("%q is not in PATH: %w", name, ErrNotFound)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fmt.Errorf("not executable: %w", err)
	}
	return nil
}

// pathOf returns the last PATH of env, as execve's libraries read it.
func pathOf(env []string) string {
	for _, entry := range slices.Backward(env) {
		if value, found := strings.CutPrefix(entry, "PATH="); found {
			return value
		}
	}
	return ""
}
