package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	runs, err := foldersBelow(dir, 2)
	if err != nil {
		return "", fmt.Errorf("look for runs: %w", err)
	}
	if len(runs) == 0 {
		_, err := Open(dir)
		return "", err
	}
	return slices.MaxFunc(runs, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) }), nil
}

// Runs are those of the folders that are run folders, and of the others all runs up
// to two folders below.
func Runs(folders []string) ([]string, error) {
	var all []string
	for _, dir := range folders {
		if _, err := Open(dir); err == nil {
			all = append(all, dir)
			continue
		}
		runs, err := foldersBelow(dir, 2)
		if err == nil && len(runs) == 0 {
			_, err = Open(dir)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, nil
}

// foldersBelow are the runs at most levels folders below dir. Folders below dir that
// cannot be read are passed over.
func foldersBelow(dir string, levels int) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}

	var runs []string
	for _, entry := range entries {
		below := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(below); err != nil || !info.IsDir() {
			continue
		}
		if _, err := os.Stat(filepath.Join(below, results.ManifestName)); err == nil {
			runs = append(runs, below)
		} else if levels > 1 {
			inside, _ := foldersBelow(below, levels-1)
			runs = append(runs, inside...)
		}
	}
	return runs, nil
}
