package process

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// CookieVariable names the environment variable that marks the processes of a
// tree, so that a child which left the session is still found.
const CookieVariable = results.CookieVariable

// tree finds the processes that descend from a leader. Once seen, a process
// stays a member whatever it does to its session, parent and environment.
type tree struct {
	proc    proc.FS
	leader  proc.Key // zero: not known
	waited  bool     // the leader is a child that os/exec waits for
	since   uint64   // nothing that started before is a member
	session int      // 0: not known
	cookie  cookie   // none: members are not found by environment
	groups  cgroups
	uid     int // whose processes alone are members, but for those of the groups; anyone: all

	mu   sync.Mutex
	seen map[proc.Key]bool // guarded by mu
}

// anyone as a tree's uid means no condition.
const anyone = -1

// members returns the living processes of the tree, the leader included,
// ordered by pid, and the dead ones that nobody has reaped.
func (t *tree) members() (live, dead []proc.Process, err error) {
	// Those in a group are asked for first: whoever is in it later was forked
	// by one of them.
	inGroup := t.groups.pids()
	orphans := t.orphans()
	procs, err := t.proc.Processes(t.since)
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}

	t.mu.Lock()
	defer t.mu.Unlock()

	for _, p := range t.pick(procs, inGroup, orphans) {
		t.seen[p.Key()] = true
		if p.Zombie() {
			dead = append(dead, p)
		} else {
			live = append(live, p)
		}
	}

	byPID := func(a, b proc.Process) int { return cmp.Compare(a.PID, b.PID) }
	slices.SortStableFunc(live, byPID)
	slices.SortStableFunc(dead, byPID)
	return live, dead, nil
}

// pick selects the tree's processes. The caller holds mu.
func (t *tree) pick(procs []proc.Process, inGroup, orphans map[int]bool) []proc.Process {
	ours := make(map[int]proc.Process)
	add := func(p proc.Process, belongs bool) bool {
		_, already := ours[p.PID]
		if already || !belongs || p.PID == os.Getpid() || p.PID == 1 {
			return false
		}
		ours[p.PID] = p
		return true
	}

	pinned := false // the session is ours: a process that is ours for another reason is in it
	for _, p := range procs {
		if add(p, t.belongs(p, inGroup) || orphans[p.PID] && t.alone(p)) && t.inSession(p) {
			pinned = true
		}
	}

	for grown := true; grown; {
		grown = false
		for _, p := range procs {
			_, child := ours[p.PPID]
			related := child || pinned && t.inSession(p)
			if add(p, related && t.permitted(p)) {
				grown = true
			}
		}
	}

	picked := make([]proc.Process, 0, len(ours))
	for _, p := range ours {
		picked = append(picked, p)
	}

	return picked
}

// belongs reports whether a process is a member for itself, whatever its
// parent and session are.
func (t *tree) belongs(p proc.Process, inGroup map[int]bool) bool {
	switch {
	case t.seen[p.Key()]:
		return true
	// The state was read before the group is asked, and a signal goes only to
	// a process that started when that state says: no pid is mistaken.
	case inGroup[p.PID] && t.groups.holds(t.proc.Cgroup(p.PID)):
		return true
	case p.Key() == t.leader:
		return t.permitted(p)
	case t.cookie.text == "" || p.Zombie():
		return false
	}
	carries, _ := t.cookie.carriedBy(t.proc, p.PID)
	return carries && t.permitted(p)
}

// inSession reports whether a process is in the tree's session. Session 0 is
// never one: strangers share it, such as all whose session began outside of
// this pid namespace.
func (t *tree) inSession(p proc.Process) bool { return t.session != 0 && p.Session == t.session }

func (t *tree) permitted(p proc.Process) bool {
	if t.uid == anyone {
		return true
	}
	uid, ok := t.proc.Owner(p.PID)
	return ok && uid == t.uid
}

// reap collects dead members that were reparented to this process, which is a
// subreaper. It never waits for a process that it does not name, because
// other parts of the program wait for their own children.
func (t *tree) reap(dead []proc.Process) {
	self := os.Getpid()
	for _, p := range dead {
		if p.PPID == self && (p.Key() != t.leader || !t.waited) {
			_, _ = unix.Wait4(p.PID, nil, unix.WNOHANG, nil)
		}
	}
}

// Usage is what a tree has consumed so far. It falls when a member ends: any
// change is a sign of life, the sign of the change means nothing.
type Usage struct {
	CPU       time.Duration
	ReadBytes uint64 // from storage
}
