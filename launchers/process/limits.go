package process

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
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

// memoryShare is the part of the machine's memory, or of its control group's, up
// to which this program lets garbage be. The rest is for servers.
const memoryShare = 0.75

// limitMemory bounds the memory of this program by what the machine or its control
// group has, unless the user did (GOMEMLIMIT): garbage is collected earlier where
// little is left.
func limitMemory() {
	if limit, _ := os.LookupEnv("GOMEMLIMIT"); limit != "" { // the Go runtime ignores an empty one, too
		return
	}
	if all := proc.System.Memory(proc.Cgroups); all > 0 {
		debug.SetMemoryLimit(int64(memoryShare * float64(all)))
	}
}

// killFirst is the score that the kernel adds to a program of ours where memory
// runs out, so that it ends a server rather than this program, which then says
// what happened and continues.
const killFirst = 500

// offerToKernel has the kernel choose the process, and what it will start, before
// this program when memory runs out. Where that is not allowed, it is as before.
func offerToKernel(pid int) {
	path := proc.System.File(pid, "oom_score_adj")
	text, _ := os.ReadFile(path)
	now, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if now >= killFirst {
		return
	}
	_ = os.WriteFile(path, []byte(strconv.Itoa(killFirst)), 0)
}

// coreLimit is the limit of core dumps that this program was started with.
var coreLimit unix.Rlimit

// crashBySignal has this program end by a signal, and not with exit code 2, where
// it runs out of memory or threads or has a bug: 2 says that nothing was started.
// It leaves no core dump, which would hold secrets; what it starts may leave one.
func crashBySignal() {
	debug.SetTraceback("crash")
	if unix.Getrlimit(unix.RLIMIT_CORE, &coreLimit) == nil {
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Max: coreLimit.Max}) // with one it is as before
	}
}

// allowCore gives a process the limit of core dumps that this program had.
func allowCore(pid int) {
	if coreLimit.Cur > 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_CORE, &coreLimit, nil) // without dumps it runs as well
	}
}
