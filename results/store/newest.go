package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/results"
)

// Latest stands for the newest run below DefaultDir, where no file has that name.
const Latest = "latest"

// DefaultDir is where runs are put.
const DefaultDir = "results"

// Newest is dir if that is a run folder, else the newest run up to two folders
// below it, by the names of the folders, which begin with the time.
func Newest(dir string) (string, error) {
	if _, err := os.Lstat(dir); dir == Latest && errors.Is(err, fs.ErrNotExist) {
		dir = DefaultDir
	}
	if _, err := Open(dir); err == nil {
		return dir, nil
	}
	newest, err := newestBelow(dir, 2)
	if err != nil {
		return "", fmt.Errorf("look for runs: %w", err)
	}
	if newest == "" {
		_, err := Open(dir)
		return "", err
	}
	return newest, nil
}

// newestBelow is the newest run at most levels folders below dir; "" if there is
// none. Folders below dir that cannot be read are passed over.
func newestBelow(dir string, levels int) (string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}

	newest := ""
	for _, entry := range entries {
		below := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(below); err != nil || !info.IsDir() {
			continue
		}
		found := ""
		if _, err := os.Stat(filepath.Join(below, results.ManifestName)); err == nil {
			found = below
		} else if levels > 1 {
			found, _ = newestBelow(below, levels-1)
		}
		if found != "" && (newest == "" || cmp.Compare(filepath.Base(found), filepath.Base(newest)) > 0) {
			newest = found
		}
	}

	return newest, nil
}
