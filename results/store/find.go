package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

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

// RunsSince are the named run folders, and of the other folders the runs up to two
// folders below that were written to since a moment, each once.
func RunsSince(folders []string, since time.Time) ([]string, error) {
	runs, err := Runs(folders)
	slices.Sort(runs)
	return slices.DeleteFunc(slices.Compact(runs), func(dir string) bool {
		if slices.Contains(folders, dir) {
			return false
		}
		files := []string{filepath.Join(dir, results.ManifestName), filepath.Join(dir, results.JournalName)}
		for _, group := range Matching(filepath.Join(dir, results.JobsName), "*") {
			files = append(files, Matching(group, "*")...) // the folder of each of its jobs
		}
		return !slices.ContainsFunc(files, func(path string) bool {
			info, err := os.Lstat(path)
			return err == nil && info.ModTime().After(since)
		})
	}), err
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

// Matching lists the entries of dir whose names match a pattern, sorted, as
// paths. Unlike filepath.Glob it takes the folder's name as it is: brackets and
// stars in it mean nothing. It is empty where the folder cannot be read.
func Matching(dir, pattern string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}

	var found []string
	for _, entry := range entries {
		if ok, _ := path.Match(pattern, entry.Name()); ok { // patterns are ours, and well formed
			found = append(found, filepath.Join(dir, entry.Name()))
		}
	}
	return found
}

// JobFiles lists the files of a name that jobs have left in the run folder.
func (f *Folder) JobFiles(name string) []string {
	return ofJobs(filepath.Join(f.dir, results.JobsName), name)
}

// ofJobs lists the files of a name that jobs have left below a run folder.
func ofJobs(dir, name string) []string {
	var found []string
	for _, group := range Matching(dir, "*") {
		for _, part := range Matching(group, "*") {
			found = append(found, Matching(part, name)...)
		}
	}
	return found
}
