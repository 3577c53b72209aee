package process

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/internal/proc"
)

// cgroups are the groups of one tree: none or one, or those of all servers of
// a run.
type cgroups []*cgroup

// runCgroups finds the groups of the trees of a run by its cookie, wherever the
// program that made them was.
func runCgroups(procfs proc.FS, run cookie) cgroups {
	h, err := findHierarchy(procfs)
	if err != nil || run.text == "" {
		return nil
	}

	var found cgroups
	_ = filepath.WalkDir(h.mount, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil //nolint:nilerr // what vanishes meanwhile is not there
		}
		name, ours := strings.CutPrefix(entry.Name(), cgroupName(""))
		if !ours || !run.is(name) {
			return nil
		}
		if below, err := filepath.Rel(h.mount, folder); err == nil {
			found = append(found, &cgroup{path: filepath.Join(h.root, below), folder: folder})
		}
		return fs.SkipDir
	})

	return found
}

func (all cgroups) pids() map[int]bool {
	pids := make(map[int]bool)
	for _, g := range all {
		for _, pid := range g.pids() {
			pids[pid] = true
		}
	}
	return pids
}

func (all cgroups) holds(path string) bool {
	for _, g := range all {
		if g.holds(path) {
			return true
		}
	}
	return false
}

func (all cgroups) populated() bool {
	for _, g := range all {
		if g.populated() {
			return true
		}
	}
	return false
}

func (all cgroups) kill() error {
	var errs []error
	for _, g := range all {
		errs = append(errs, g.kill())
	}
	return errors.Join(errs...)
}

func (all cgroups) remove() error {
	var errs []error
	for _, g := range all {
		errs = append(errs, g.remove())
	}
	return errors.Join(errs...)
}

func (all cgroups) String() string {
	var paths []string
	for _, g := range all {
		paths = append(paths, g.path)
	}
	return strings.Join(paths, ", ")
}
