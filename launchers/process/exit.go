package process

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childInfo is the kernel's siginfo_t as waitid fills it for a child; the
// x/sys type leaves these fields unnamed.
type childInfo struct {
	signo, errno, code int32
	_                  [unsafe.Sizeof(uintptr(0)) - 4]byte
	pid                int32
	uid                uint32
	status             int32
	_                  [128 - 20 - unsafe.Sizeof(uintptr(0))]byte
}

// awaitExit blocks until our child pid has ended and returns its exit code,
// 128+n after signal n. The child stays a zombie: as long as it is not reaped
// the kernel gives neither its pid nor its session number to another process.
func awaitExit(pid int) (int, error) {
	const exitedNormally = 1 // CLD_EXITED
	for {
		var info childInfo
		err := unix.Waitid(unix.P_PID, pid, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("wait for process %d: %w", pid, err)
		case info.code == exitedNormally:
			return int(info.status), nil
		}
		return 128 + int(info.status), nil
	}
}
