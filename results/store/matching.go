package store

import (
	"os"
	"path"
	"path/filepath"

	"github.com/benchrig/bench/results"
)

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
