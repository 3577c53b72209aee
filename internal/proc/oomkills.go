package proc

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Cgroups is where the hierarchies of control groups are mounted.
const Cgroups = "/sys/fs/cgroup"

// OOMCounter is the file in which the kernel counts the processes of a control
// group that it has killed for lack of memory; "" if there is none.
type OOMCounter string

// OOMCounter finds the counter of a process's control group: with version 2 that
// of the nearest group above it that has one, which counts all groups below.
func (fs FS) OOMCounter(pid int, cgroups string) OOMCounter {
	text, err := fs.CgroupText(strconv.Itoa(pid))
	if err != nil {
		return ""
	}

	unified := ""
	for line := range strings.Lines(text) {
		switch version, path := memoryGroup(line); version {
		case 1: // which has the controller then
			return existing(filepath.Join(cgroups, "memory", filepath.Clean("/"+path), "memory.oom_control"))
		case 2:
			unified = path
		}
	}
	if unified == "" {
		return ""
	}

	for path := filepath.Clean("/" + unified); ; path = filepath.Dir(path) {
		if counter := existing(filepath.Join(cgroups, path, "memory.events")); counter != "" || path == "/" {
			return counter
		}
	}
}

func existing(path string) OOMCounter {
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return OOMCounter(path)
}

// Kills is how many processes the kernel has killed so far; false if the counter
// is not there, as after the end of its group.
func (c OOMCounter) Kills() (kills int, ok bool) {
	text, err := os.ReadFile(string(c))
	if c == "" || err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(value, 10, 64); name == "oom_kill" && err == nil && n <= math.MaxInt32 {
			return int(n), true
		}
	}

	return 0, false
}

// OOMWatch is how many processes of a control group the kernel has killed for
// lack of memory since the watch began. It is for one goroutine at a time.
type OOMWatch struct {
	counter OOMCounter
	before  int
	seen    int // at the last look
}

// WatchOOM begins a watch at the control group of a process. A group whose path
// has own in it exists since the process does, so that all its kills count;
// own may be "".
func (fs FS) WatchOOM(pid int, cgroups, own string) OOMWatch {
	w := OOMWatch{counter: fs.OOMCounter(pid, cgroups)}
	if own == "" || !strings.Contains(string(w.counter), own) {
		w.before, _ = w.counter.Kills()
	}
	return w
}

// Since is the watch, or the earlier one if that is of the same group.
func (w OOMWatch) Since(earlier OOMWatch) OOMWatch {
	if w.counter == earlier.counter {
		return earlier
	}
	return w
}

// Look returns the kills so far. The counter may be gone: then they are those of
// the last look.
func (w *OOMWatch) Look() int {
	if n, ok := w.counter.Kills(); ok {
		w.seen = max(w.seen, n-w.before)
	}
	return w.seen
}
