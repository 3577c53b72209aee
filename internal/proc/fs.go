package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FS is a folder laid out like /proc.
type FS string

// System is the kernel's own.
const System FS = "/proc"

// File is the path of the named file of one process.
func (fs FS) File(pid int, name string) string {
	return filepath.Join(string(fs), strconv.Itoa(pid), name)
}

// Process reads the state of one process; the error is that of a missing file if
// there is no such process.
func (fs FS) Process(pid int) (Process, error) {
	text, err := os.ReadFile(fs.File(pid, "stat"))
	if err != nil {
		return Process{}, err
	}
	return parseStat(text)
}

// Processes lists all processes that started at or after since. Processes that
// vanish meanwhile are left out.
func (fs FS) Processes(since uint64) ([]Process, error) {
	pids, err := fs.PIDs()
	if err != nil {
		return nil, err
	}
	var procs []Process
	for _, pid := range pids {
		if p, err := fs.Process(pid); err == nil && p.StartTime >= since {
			procs = append(procs, p)
		}
	}
	return procs, nil
}

// PIDs lists the numbers of all processes, in no particular order.
func (fs FS) PIDs() ([]int, error) {
	dir, err := os.Open(string(fs))
	if err != nil {
		return nil, err
	}
	defer dir.Close()

	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", fs, err)
	}

	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}

	return pids, nil
}

// Same reports whether p still is the process that it was when it was read.
func (fs FS) Same(p Process) bool {
	now, err := fs.Process(p.PID)
	return err == nil && now.StartTime == p.StartTime
}

// Cgroup is the process's path in the hierarchy of cgroup version 2; "" if it
// has none.
func (fs FS) Cgroup(pid int) string {
	text, err := os.ReadFile(fs.File(pid, "cgroup"))
	if err != nil {
		return ""
	}
	return unifiedPath(string(text))
}

// Owner is the user that the process belongs to; false if there is none such.
// A process that may not be looked into belongs to root in our eyes.
func (fs FS) Owner(pid int) (uid int, ok bool) {
	info, err := os.Stat(fs.File(pid, ""))
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// ReadBytes is what the process has read from storage so far; 0 if unknown.
func (fs FS) ReadBytes(pid int) uint64 {
	text, err := os.ReadFile(fs.File(pid, "io"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "read_bytes:"); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

// Variable is the value of an environment variable that the process was started
// with; readable is false if its environment may not be seen. Where the
// environment names it several times the values are several.
func (fs FS) Variable(pid int, name string) (values []string, readable bool) {
	text, err := os.ReadFile(fs.File(pid, "environ"))
	if err != nil {
		return nil, false
	}

	for field := range bytes.SplitSeq(text, []byte{0}) {
		if value, found := bytes.CutPrefix(field, []byte(name+"=")); found {
			values = append(values, string(value))
		}
	}

	return values, true
}

// Argv is the command line of a process.
func (fs FS) Argv(pid int) ([]string, error) {
	text, err := os.ReadFile(fs.File(pid, "cmdline"))
	if err != nil || len(text) == 0 {
		return nil, fmt.Errorf("the command line of process %d cannot be read", pid)
	}

	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// Program is what a process runs, for messages. Its arguments are left out,
// because they may hold secrets that are not ours.
func (fs FS) Program(pid int) string {
	argv, err := fs.Argv(pid)
	if err != nil || argv[0] == "" {
		return "unknown program"
	}

	return argv[0]
}

// StartTime is when the process with that pid started, in clock ticks since
// boot; false if there is none that can be seen.
func (fs FS) StartTime(pid int) (ticks uint64, ok bool) {
	p, err := fs.Process(pid)

	return p.StartTime, err == nil && !p.Zombie()
}

// BootID identifies this boot of the kernel; "" if it does not tell.
func (fs FS) BootID() string {
	text, err := os.ReadFile(filepath.Join(string(fs), "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// PIDNamespace names the pid namespace of this program; "" if the kernel does not
// tell. Pids mean something within it alone.
func (fs FS) PIDNamespace() string {
	name, err := os.Readlink(filepath.Join(string(fs), "self/ns/pid"))
	if err != nil {
		return ""
	}
	return name
}

// OwnCgroup is this program's path in the hierarchy of cgroup version 2; "" if it
// has none.
func (fs FS) OwnCgroup() (string, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), "self/cgroup"))
	if err != nil {
		return "", err
	}

	return unifiedPath(string(text)), nil
}

// unifiedPath is the path of version 2 in the text of /proc/PID/cgroup.
func unifiedPath(text string) string {
	for line := range strings.Lines(text) {
		if path, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); found {
			return strings.TrimSuffix(path, " (deleted)")
		}
	}

	return ""
}

// Resident is the memory that this program has in use, in bytes; 0 if the
// kernel does not say.
func (fs FS) Resident() int64 {
	text, err := os.ReadFile(filepath.Join(string(fs), "self/statm"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}

	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// CgroupText is the text of /proc/PID/cgroup, of all hierarchies; "self" is this
// program.
func (fs FS) CgroupText(pid string) (string, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), pid, "cgroup"))

	return string(text), err
}

// ChildrenOfMainThread lists the children that this program's main thread has
// forked, or that the kernel has given to this program.
func (fs FS) ChildrenOfMainThread() ([]int, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), "self/task", strconv.Itoa(os.Getpid()), "children"))
	if err != nil {
		return nil, err
	}

	var pids []int
	for word := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}

	return pids, nil
}
