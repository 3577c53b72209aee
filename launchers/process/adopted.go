package process

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
)

// helperVariable marks programs that this one runs besides servers and hooks,
// and what they leave running, such as the connection of an ssh that is shared.
const helperVariable = "BENCH_HELPER"

// adopting is set where adopted children can be distinguished from our own.
var adopting atomic.Bool

// Main runs the program's main function so that orphans of servers are known for
// what they are: the kernel gives them to this program's main thread, from which
// nothing else forks then. The caller is main itself, whose goroutine must be
// locked to the main thread by an init function; elsewhere orphans are not
// looked for.
func Main(run func() int) int {
	limitMemory()
	crashBySignal()
	adopting.Store(unix.Gettid() == os.Getpid() && os.Setenv(helperVariable, strconv.Itoa(os.Getpid())) == nil)

	code := make(chan int)
	go func() { code <- run() }()

	return <-code
}

// Environ is the environment that this program was started with.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, helperVariable+"=")
	})
}

// IgnoreOrphans ends the search for orphans: somebody else's daemons become
// children of this program, too, as those of container engines do.
func IgnoreOrphans() { adopting.Store(false) }

// running are the trees whose end is not proven.
var running struct {
	mu    sync.Mutex
	trees map[*tree]bool // guarded by mu
}

func (t *tree) register() {
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.trees == nil {
		running.trees = make(map[*tree]bool)
	}
	running.trees[t] = true
}

func (t *tree) unregister() {
	running.mu.Lock()
	defer running.mu.Unlock()
	delete(running.trees, t)
}

// alone reports whether no other tree runs whose orphan this could be.
func (t *tree) alone(p proc.Process) bool {
	running.mu.Lock()
	defer running.mu.Unlock()
	for other := range running.trees {
		if other != t && other.since <= p.StartTime {
			return false
		}
	}

	return running.trees[t]
}

// orphans are the pids that the kernel gave to this program because their parent
// has ended: a process that forked twice, left its session and dropped its
// environment is known by nothing else. Nil where they cannot be distinguished.
func (t *tree) orphans() map[int]bool {
	if t.proc != proc.System || !adopting.Load() {
		return nil
	}

	pids, err := t.proc.ChildrenOfMainThread()
	if err != nil {
		return nil
	}

	return t.orphansAmong(pids)
}

// orphansAmong are those of this program's children that only the tree can have left.
func (t *tree) orphansAmong(pids []int) map[int]bool {
	own, err := t.proc.CgroupText("self")
	if err != nil {
		return nil
	}

	orphans := make(map[int]bool)
	for _, pid := range pids {
		// Whoever was moved to another group has a manager who looks after it.
		if theirs, err := t.proc.CgroupText(strconv.Itoa(pid)); err != nil || theirs != own {
			continue
		}
		if t.unmarked(pid) {
			orphans[pid] = true
		}
	}

	return orphans
}

// unmarked reports whether a process has no mark of a helper. While a program
// begins, the kernel shows neither its environment nor its command line: only an
// environment that is read after a command line was seen counts.
func (t *tree) unmarked(pid int) bool {
	missing := func() bool {
		values, readable := t.proc.Variable(pid, helperVariable)
		return readable && len(values) == 0
	}

	if !missing() {
		return false
	}
	argv, err := t.proc.Argv(pid)

	return err == nil && len(argv) > 0 && argv[0] != "" && missing()
}

// checkProc refuses to work where /proc shows the processes of another pid
// namespace: every pid would be a stranger's.
func checkProc() error {
	if proc.System.Own() {
		return nil
	}

	return fmt.Errorf("/proc shows the processes of another pid namespace, so bench cannot recognise its processes: " +
		"mount this namespace's own (unshare --mount-proc)")
}
