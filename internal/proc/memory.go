package proc

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is how many bytes of memory this program may use, with all that runs
// beside it: what the machine has, or what its control groups allow if that is
// less. cgroups is where their hierarchies are mounted. 0: not known.
func (fs FS) Memory(cgroups string) int64 {
	least := int64(math.MaxInt64)
	if machine := fs.machineMemory(); machine > 0 {
		least = machine
	}
	text, _ := fs.CgroupText("self")
	for line := range strings.Lines(text) {
		least = min(least, groupMemory(cgroups, line))
	}

	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// machineMemory is the memory of the machine; 0 if it does not say.
func (fs FS) machineMemory() int64 {
	text, err := os.ReadFile(filepath.Join(string(fs), "meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// groupMemory is the least limit of a group and of those above it, by a line of
// /proc/self/cgroup. In a container the path may be that of the host: then only
// the group at the top is seen, which is the container's own.
func groupMemory(mount, line string) int64 {
	version, group := memoryGroup(line)
	top, file := mount, "memory.max"
	switch version {
	case 0:
		return math.MaxInt64
	case 1:
		top, file = filepath.Join(mount, "memory"), "memory.limit_in_bytes"
	}

	least := int64(math.MaxInt64)
	for path := filepath.Clean("/" + group); ; path = filepath.Dir(path) {
		text, err := os.ReadFile(filepath.Join(top, path, file))
		limit, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && bad == nil && limit > 0 {
			least = min(least, limit)
		}
		if path == "/" {
			return least
		}
	}
}

// memoryGroup is the path of a control group that may bound memory, by a line of
// /proc/PID/cgroup, and the version of its hierarchy; 0: the line is of another.
func memoryGroup(line string) (version int, path string) {
	parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
	switch {
	case len(parts) != 3:
		return 0, ""
	case parts[0] == "0":
		return 2, parts[2]
	case parts[1] == "memory":
		return 1, parts[2]
	}
	return 0, ""
}
