package process

import (
	"fmt"
	"syscall"
)

// maxFiles is as many as anybody needs. Some machines allow a thousand million,
// and programs that close every descriptor before they start another take
// minutes for that.
const maxFiles = 1 << 20

// RaiseFileLimit allows this program, and the servers that it starts, as many
// open files as the machine permits, and returns that number: a stream is one file
// here and one there. The Go runtime raises the limit for the program alone
// and gives children the old one, unless the program sets it itself.
func RaiseFileLimit() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	before := limit.Cur
	limit.Cur = min(limit.Max, maxFiles)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return before, fmt.Errorf("raise limit of open files to %d: %w", limit.Cur, err)
	}
	return limit.Cur, nil
}
