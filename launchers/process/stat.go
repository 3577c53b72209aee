package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	procFS = "/proc"

	// clockTick is the unit of CPU times in /proc: USER_HZ is 100 on every
	// architecture that Go supports on Linux.
	clockTick = time.Second / 100
)

// Proc is one process as /proc/PID/stat shows it.
type Proc struct {
	PID       int
	PPID      int
	Session   int
	State     byte   // R, S, D, Z, ...
	StartTime uint64 // clock ticks since boot
	CPU       time.Duration
	Threads   int
}

// Zombie reports whether the process has ended and only waits to be reaped. A
// process whose main thread ended before its other threads also shows state
// Z, but it still runs.
func (p Proc) Zombie() bool {
	return p.State == 'X' || p.State == 'x' || p.State == 'Z' && p.Threads <= 1
}

func (p Proc) key() procKey { return procKey{p.PID, p.StartTime} }

// procKey tells two processes apart even if one got the other's pid.
type procKey struct {
	pid   int
	start uint64
}

// readProc reads the state of one process; the error is that of a missing file
// if there is no such process.
func readProc(pid int) (Proc, error) {
	text, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return Proc{}, err
	}
	return parseStat(text)
}

// parseStat parses /proc/PID/stat. The command's name, in parentheses, may
// itself hold spaces, newlines and parentheses.
func parseStat(text []byte) (Proc, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Proc{}, fmt.Errorf("parse stat %q: no command name", text)
	}
	// fields[0] is field 3 of proc(5), the state.
	fields := strings.Fields(string(text[end+1:]))
	const need = 20 // up to field 22, the start time
	if len(fields) < need {
		return Proc{}, fmt.Errorf("parse stat %q: %d fields after the name, want at least %d", text, len(fields), need)
	}
	var bad error
	number := func(field int) uint64 {
		n, err := strconv.ParseUint(fields[field-3], 10, 64)
		if err != nil && bad == nil {
			bad = fmt.Errorf("parse stat field %d: %w", field, err)
		}
		return n
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:open])))
	if err != nil {
		return Proc{}, fmt.Errorf("parse stat pid: %w", err)
	}
	p := Proc{
		PID:       pid,
		State:     fields[0][0],
		PPID:      int(number(4)),
		Session:   int(number(6)),
		CPU:       time.Duration(number(14)+number(15)) * clockTick, //nolint:gosec // ticks of one process
		Threads:   int(number(20)),
		StartTime: number(22),
	}
	return p, bad
}

// listProcs lists all processes that started at or after since. Processes
// that vanish meanwhile are left out.
func listProcs(since uint64) ([]Proc, error) {
	dir, err := os.Open(procFS)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", procFS, err)
	}
	var procs []Proc
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProc(pid); err == nil && p.StartTime >= since {
			procs = append(procs, p)
		}
	}
	return procs, nil
}

// hasEnv reports whether the process was started with the environment entry
// "NAME=value". False if its environment may not be read.
func hasEnv(pid int, entry string) bool {
	text, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false
	}
	for field := range bytes.SplitSeq(text, []byte{0}) {
		if string(field) == entry {
			return true
		}
	}
	return false
}

// readBytes is what the process has read from storage so far; 0 if unknown.
func readBytes(pid int) uint64 {
	text, err := os.ReadFile(procFile(pid, "io"))
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
func bootID() string {
	text, err := os.ReadFile(filepath.Join(procFS, "sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func procFile(pid int, name string) string {
	return filepath.Join(procFS, strconv.Itoa(pid), name)
}
