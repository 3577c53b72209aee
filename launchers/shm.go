package launchers

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

// sharedMemory is where engines keep the memory that their processes share. A
// process that is killed leaves its files there, and when the place is full no
// engine starts.
type sharedMemory struct {
	folder string
	proc   string // for who uses a file
	uid    int
}

// shmLedger knows what lay in shared memory before the first of the servers
// that run: what one of them leaves is told from another's only by their all
// being gone.
type shmLedger struct {
	mu      sync.Mutex    // guards all below
	memory  *sharedMemory // nil: this machine's
	servers int
	before  []string
	since   time.Time
}

// enter counts a server in. leave counts it out, once, and removes what it and
// those that ran beside it have left, if it was the last.
func (l *shmLedger) enter() (before []string, leave func() (removed []string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.memory == nil {
		l.memory = new(sharedHere())
	}
	if l.servers == 0 {
		l.before, l.since = l.memory.files(), time.Now()
	}
	l.servers++
	return l.before, sync.OnceValue(l.leave)
}

func (l *shmLedger) leave() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.servers--; l.servers > 0 {
		return nil
	}
	return l.memory.clean(l.before, l.since)
}

// sharedHere is that of this machine and user.
func sharedHere() sharedMemory { return sharedMemory{"/dev/shm", "/proc", os.Geteuid()} }

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
func (m sharedMemory) files() []string {
	entries, err := os.ReadDir(m.folder)
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

// clean removes the files that a server of ours has left: of engines, ours by
// user, not there before, made since then, and neither open nor mapped by any
// process. It returns their names.
func (m sharedMemory) clean(before []string, since time.Time) []string {
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
		if !used[name] && os.Remove(filepath.Join(m.folder, name)) == nil {
			removed = append(removed, name)
		}
	}
	return removed
}

// ours reports whether a file is our user's and was made or changed since then.
func (m sharedMemory) ours(name string, since time.Time) bool {
	info, err := os.Lstat(filepath.Join(m.folder, name))
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != m.uid {
		return false
	}
	changed := time.Unix(stat.Ctim.Unix())
	const coarse = 20 * time.Millisecond // steps of the clock that files are stamped with
	return !changed.Before(since.Add(-coarse))
}

// used are those of the files that a process has open or mapped.
func (m sharedMemory) used(names []string) map[string]bool {
	used := make(map[string]bool)
	entries, err := os.ReadDir(m.proc)
	if err != nil { // nothing can be shown to be unused
		for _, name := range names {
			used[name] = true
		}
		return used
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err == nil {
			m.markUsed(filepath.Join(m.proc, entry.Name()), names, used)
		}
	}
	return used
}

// markUsed adds the files that one process uses. What may not be seen belongs
// to another user; a file of ours is no business of it.
func (m sharedMemory) markUsed(process string, names []string, used map[string]bool) {
	maps, _ := os.ReadFile(filepath.Join(process, "maps"))
	descriptors, _ := os.ReadDir(filepath.Join(process, "fd"))
	var open []string
	for _, fd := range descriptors {
		if target, err := os.Readlink(filepath.Join(process, "fd", fd.Name())); err == nil {
			open = append(open, target)
		}
	}
	for _, name := range names {
		path := filepath.Join(m.folder, name)
		if bytes.Contains(maps, []byte(" "+path+"\n")) || slices.Contains(open, path) {
			used[name] = true
		}
	}
}
