package process

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// sendSignal signals p if, and only if, its pid still names the same process.
// A process that has ended is not an error.
func sendSignal(fs proc.FS, p proc.Process, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return nil
	case err != nil: // no pidfds here (old kernel, seccomp): check, then signal
		if !fs.Same(p) {
			return nil
		}
		return ignoreGone(unix.Kill(p.PID, signal))
	}
	defer func() { _ = unix.Close(fd) }()

	// The descriptor is bound to one process; is it the one meant?
	if !fs.Same(p) {
		return nil
	}

	return ignoreGone(unix.PidfdSendSignal(fd, signal, nil, 0))
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}
