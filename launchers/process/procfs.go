package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// procFS is a folder laid out like /proc.
type procFS string

// systemProc is the kernel's own.
const systemProc procFS = "/proc"

func (fs procFS) file(pid int, name string) string {
	return filepath.Join(string(fs), strconv.Itoa(pid), name)
}

// read reads the state of one process; the error is that of a missing file if
// there is no such process.
func (fs procFS) read(pid int) (Proc, error) {
	text, err := os.ReadFile(fs.file(pid, "stat"))
	if err != nil {
		return Proc{}, err
	}
	return parseStat(text)
}

// list lists all processes that started at or after since. Processes that
// vanish meanwhile are left out.
func (fs procFS) list(since uint64) ([]Proc, error) {
	pids, err := fs.pids()
	if err != nil {
		return nil, err
	}
	var procs []Proc
	for _, pid := range pids {
		if p, err := fs.read(pid); err == nil && p.StartTime >= since {
			procs = append(procs, p)
		}
	}
	return procs, nil
}

func (fs procFS) pids() ([]int, error) {
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

// same reports whether p still is the process that it was when it was read.
func (fs procFS) same(p Proc) bool {
	now, err := fs.read(p.PID)
	return err == nil && now.StartTime == p.StartTime
}

// carries reports whether a process was started with the cookie. readable is
// false if its environment may not be seen.
func (fs procFS) carries(pid int, cookie cookie) (carries, readable bool) {
	text, err := os.ReadFile(fs.file(pid, "environ"))
	if err != nil {
		return false, false
	}
	for field := range bytes.SplitSeq(text, []byte{0}) {
		value, found := strings.CutPrefix(string(field), CookieVariable+"=")
		if found && cookie.is(value) {
			return true, true
		}
	}
	return false, true
}

// cookie marks the processes of a tree.
type cookie struct {
	text     string // "": none
	wholeRun bool   // also those that begin with text and a point: a run's cookie followed by a server's
}

func (c cookie) is(value string) bool {
	return c.text != "" && (value == c.text || c.wholeRun && strings.HasPrefix(value, c.text+"."))
}

// cgroup is the process's path in the hierarchy of cgroup version 2; "" if it
// has none.
func (fs procFS) cgroup(pid int) string {
	text, err := os.ReadFile(fs.file(pid, "cgroup"))
	if err != nil {
		return ""
	}
	return unifiedPath(string(text))
}

// owner is the user that the process belongs to; false if there is none such.
// A process that may not be looked into belongs to root in our eyes.
func (fs procFS) owner(pid int) (uid int, ok bool) {
	info, err := os.Stat(fs.file(pid, ""))
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// readBytes is what the process has read from storage so far; 0 if unknown.
func (fs procFS) readBytes(pid int) uint64 {
	text, err := os.ReadFile(fs.file(pid, "io"))
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

// bootID identifies this boot of the kernel; "" if it does not tell.
func (fs procFS) bootID() string {
	text, err := os.ReadFile(filepath.Join(string(fs), "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// BootID identifies this boot of the kernel; "" if it does not tell.
func BootID() string { return systemProc.bootID() }

// The short forms look at this machine.

func readProc(pid int) (Proc, error)         { return systemProc.read(pid) }
func listProcs(since uint64) ([]Proc, error) { return systemProc.list(since) }
func readBytes(pid int) uint64               { return systemProc.readBytes(pid) }
