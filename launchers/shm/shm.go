package shm

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Folder is where engines keep the memory that their processes share. A
// process that is killed leaves its files there, and when the place is full no
// engine starts.
type Folder struct {
	Path string
	Proc string // for who uses a file
	UID  int
}

// Ledger knows what lay in shared memory before the first of the servers
// that run: what one of them leaves is told from another's only by their all
// being gone.
type Ledger struct {
	mu      sync.Mutex // guards all below
	Memory  *Folder    // nil: this machine's
	servers int
	before  []string
	since   time.Time
}

// Enter counts a server in. leave counts it out, once, and removes what it and
// those that ran beside it have left, if it was the last.
func (l *Ledger) Enter() (before []string, leave func() (removed []string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Memory == nil {
		l.Memory = new(Here())
	}
	if l.servers == 0 {
		l.before, l.since = l.Memory.files(), time.Now()
	}
	l.servers++
	return l.before, sync.OnceValue(l.leave)
}

func (l *Ledger) leave() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.servers--; l.servers > 0 {
		return nil
	}
	return l.Memory.Clean(l.before, l.since)
}

// Here is that of this machine and user.
func Here() Folder { return Folder{"/dev/shm", "/proc", os.Geteuid()} }

// engineFile reports whether engines or the libraries below them make files of
// that name.
func engineFile(name string) bool {
	for _, beginning := range []string{"nccl-", "psm_", "sem.", "vllm_offload_", "torch_", "sglang"} {
		if strings.HasPrefix(name, beginning) {
			return true
		}
	}
	return false
}

// files lists the files of engines that are there, by name.
func (m Folder) files() []string {
	entries, err := os.ReadDir(m.Path)
	if err != nil {
		return nil // no such place here
	}
	var names []string
	for _, entry := range entries {
		if engineFile(entry.Name()) && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// Clean removes the files that a server of ours has left: of engines, ours by
// user, not there before, made since then, and neither open nor mapped by any
// process. It returns their names.
func (m Folder) Clean(before []string, since time.Time) []string {
	var candidates []string
	for _, name := range m.files() {
		if !slices.Contains(before, name) && m.ours(name, since) {
			candidates = append(candidates, name)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	used := m.used(candidates)
	var removed []string
	for _, name := range candidates {
		if !used[name] && os.Remove(filepath.Join(m.Path, name)) == nil {
			removed = append(removed, name)
		}
	}
	return removed
}

// ours reports whether a file is our user's and was made or changed since then.
func (m Folder) ours(name string, since time.Time) bool {
	info, err := os.Lstat(filepath.Join(m.Path, name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != m.UID {
		return false
	}
	changed := time.Unix(stat.Ctim.Unix())
	const coarse = 20 * time.Millisecond // steps of the clock that files are stamped with
	return !changed.Before(since.Add(-coarse))
}

// used are those of the files that a process has open or mapped.
func (m Folder) used(names []string) map[string]bool {
	used := make(map[string]bool)
	entries, err := os.ReadDir(m.Proc)
	if err != nil { // nothing can be shown to be unused
		for _, name := range names {
			used[name] = true
		}
		return used
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err == nil {
			m.markUsed(filepath.Join(m.Proc, entry.Name()), names, used)
		}
	}
	return used
}

// markUsed adds the files that one process uses. What may not be seen belongs
// to another user; a file of ours is no business of it.
func (m Folder) markUsed(process string, names []string, used map[string]bool) {
	maps, _ := os.ReadFile(filepath.Join(process, "maps"))
	descriptors, _ := os.ReadDir(filepath.Join(process, "fd"))
	var open []string
	for _, fd := range descriptors {
		if target, err := os.Readlink(filepath.Join(process, "fd", fd.Name())); err == nil {
			open = append(open, target)
		}
	}
	for _, name := range names {
		path := filepath.Join(m.Path, name)
		if bytes.Contains(maps, []byte(" "+path+"\n")) || slices.Contains(open, path) {
			used[name] = true
		}
	}
}
