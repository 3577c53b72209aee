package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// hierarchy is a mounted tree of version 2 control groups.
type hierarchy struct {
	mount string // where it is mounted
	root  string // path, as /proc/PID/cgroup gives it, of the group that is mounted there
}

// cgroupName is the name of the group of the tree that carries the cookie.
func cgroupName(cookie string) string { return "bench-" + cookie }

// cgroup is a group that holds one process tree and nothing else. Processes
// cannot leave it by any means that engines use, and its kernel ends them all
// at one word.
type cgroup struct {
	path   string // as /proc/PID/cgroup gives it
	folder string
}

// newCgroup makes a group of that name below our own group. The error says
// why this machine does not let us: it is not a failure of anything.
func newCgroup(procfs proc.FS, name string) (*cgroup, error) {
	parent, h, err := ownGroup(procfs)
	if err != nil {
		return nil, err
	}

	folder := h.folder(parent)
	if err := canHold(folder); err != nil {
		return nil, fmt.Errorf("cgroup %s: %w", folder, err)
	}

	group := &cgroup{path: filepath.Join(parent, name), folder: filepath.Join(folder, name)}
	if err := os.Mkdir(group.folder, 0o755); err != nil {
		return nil, err
	}

	// Without cgroup.kill (Linux before 5.14) the group still shows who is in it.
	if _, err := os.Stat(filepath.Join(group.folder, "cgroup.procs")); err != nil {
		_ = os.Remove(group.folder)
		return nil, fmt.Errorf("%s is not a cgroup: %w", group.folder, err)
	}

	return group, nil
}

// PlannedCgroup is the path of the group that Start would try to make for the
// cookie; "" if it would not. It makes nothing.
func PlannedCgroup(cookie string) string {
	parent, h, err := ownGroup(proc.System)
	if err != nil || canHold(h.folder(parent)) != nil {
		return ""
	}
	return filepath.Join(parent, cgroupName(cookie))
}

// openCgroup finds a group that an earlier program made.
func openCgroup(procfs proc.FS, path string) (*cgroup, bool) {
	if path == "" || path == "/" || !strings.HasPrefix(filepath.Base(path), cgroupName("")) {
		return nil, false
	}
	h, err := findHierarchy(procfs)
	if err != nil {
		return nil, false
	}
	group := &cgroup{path: path, folder: h.folder(path)}
	_, err = os.Stat(filepath.Join(group.folder, "cgroup.procs"))
	return group, err == nil
}

// ownGroup is the group that this program is in.
func ownGroup(procfs proc.FS) (path string, h hierarchy, err error) {
	h, err = findHierarchy(procfs)
	if err != nil {
		return "", h, err
	}
	path, err = procfs.OwnCgroup()
	if err != nil {
		return "", h, err
	}
	if path == "" || !h.holds(path) {
		return "", h, fmt.Errorf("our cgroup %q is not below the mounted one %q", path, h.root)
	}
	return path, h, nil
}

// canHold reports whether groups with processes may be made in a group that
// holds processes itself, ours.
func canHold(folder string) error {
	kind, err := os.ReadFile(filepath.Join(folder, "cgroup.type"))
	switch {
	case errors.Is(err, fs.ErrNotExist): // the root group has no type
	case err != nil:
		return err
	case strings.TrimSpace(string(kind)) != "domain":
		return fmt.Errorf("it is of type %q, want domain", strings.TrimSpace(string(kind)))
	}
	// To move a process in, one must be allowed to write where it comes from.
	file, err := os.OpenFile(filepath.Join(folder, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("not delegated to us: %w", err)
	}
	return file.Close()
}

// findHierarchy finds the mount of cgroup version 2.
func findHierarchy(procfs proc.FS) (hierarchy, error) {
	mounts, err := procfs.Mounts()
	if err != nil {
		return hierarchy{}, err
	}

	return writableHierarchy(mounts)
}

// writableHierarchy finds a cgroup2 file system that can be written to.
func writableHierarchy(mounts []proc.Mount) (hierarchy, error) {
	readOnly := false
	for _, m := range mounts {
		switch {
		case m.Kind != "cgroup2":
		case m.ReadOnly:
			readOnly = true
		default:
			return hierarchy{mount: m.Point, root: m.Root}, nil
		}
	}

	if readOnly {
		return hierarchy{}, errors.New("cgroup version 2 is mounted read-only")
	}

	return hierarchy{}, errors.New("cgroup version 2 is not mounted")
}

func (h hierarchy) holds(path string) bool {
	return h.root == "/" || path == h.root || strings.HasPrefix(path, h.root+"/")
}

// folder is where the group of that path is.
func (h hierarchy) folder(path string) string {
	if h.root != "/" {
		path = strings.TrimPrefix(path, h.root)
	}
	return filepath.Join(h.mount, path)
}

// pids lists the processes of the group and of groups that they made below it.
func (g *cgroup) pids() []int {
	var pids []int
	for _, folder := range g.folders() {
		text, err := os.ReadFile(filepath.Join(folder, "cgroup.procs"))
		if err != nil {
			continue // gone meanwhile
		}
		for line := range strings.Lines(string(text)) {
			// 0 stands for a process that our pid namespace does not show.
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// holds reports whether a process with that path is in the group or below it.
func (g *cgroup) holds(path string) bool {
	return path == g.path || strings.HasPrefix(path, g.path+"/")
}

// folders are the group's and those below it, each after its parent.
func (g *cgroup) folders() []string {
	var folders []string
	_ = filepath.WalkDir(g.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return nil // what vanishes meanwhile is not there
	})
	return folders
}

// populated reports whether a living process is in the group or below it.
func (g *cgroup) populated() bool {
	text, err := os.ReadFile(filepath.Join(g.folder, "cgroup.events"))
	if err != nil {
		return false // the group is gone
	}
	return slices.Contains(strings.Split(string(text), "\n"), "populated 1")
}

// kill ends all processes of the group at once; forking cannot outrun it.
func (g *cgroup) kill() error {
	return os.WriteFile(filepath.Join(g.folder, "cgroup.kill"), []byte("1"), 0)
}

// remove removes the empty group. The kernel may take a moment to see that it
// is empty.
func (g *cgroup) remove() error {
	const limit = time.Second
	deadline := time.Now().Add(limit)
	for {
		err := g.removeOnce()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(minPoll)
	}
}

func (g *cgroup) removeOnce() error {
	var last error
	for _, folder := range slices.Backward(g.folders()) {
		if err := unix.Rmdir(folder); err != nil && !errors.Is(err, unix.ENOENT) {
			last = fmt.Errorf("remove cgroup %s: %w", folder, err)
		}
	}
	return last
}
