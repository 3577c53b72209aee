package proc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc: USER_HZ is 100 on every
// architecture that Go supports on Linux.
const clockTick = time.Second / 100

// Process is one process as /proc/PID/stat shows it.
type Process struct {
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
func (p Process) Zombie() bool {
	return p.State == 'X' || p.State == 'x' || p.State == 'Z' && p.Threads <= 1
}

// Unkillable reports whether not even SIGKILL ends the process now: it, or a
// thread that outlived its main thread, waits in the kernel.
func (p Process) Unkillable() bool {
	return p.State == 'D' || p.State == 'Z' && p.Threads > 1
}

// Key identifies the process.
func (p Process) Key() Key { return Key{p.PID, p.StartTime} }

// Key distinguishes two processes even if one got the other's pid.
type Key struct {
	PID       int
	StartTime uint64 // clock ticks since boot
}

// parseStat parses /proc/PID/stat. The command's name, in parentheses, may
// itself hold spaces, newlines and parentheses.
func parseStat(text []byte) (Process, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Process{}, fmt.Errorf("parse stat %q: no command name", text)
	}

	// fields[0] is field 3 of proc(5), the state.
	fields := strings.Fields(string(text[end+1:]))
	const need = 20 // up to field 22, the start time
	if len(fields) < need {
		return Process{}, fmt.Errorf("parse stat %q: %d fields after the name, want at least %d", text, len(fields),
			need)
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
		return Process{}, fmt.Errorf("parse stat pid: %w", err)
	}

	p := Process{
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
