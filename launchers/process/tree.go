package process

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// CookieVariable names the environment variable that marks the processes of a
// tree, so that a child which left the session is still found.
const CookieVariable = "BENCH_COOKIE"

// tree finds the processes that descend from a leader. Once seen, a process
// stays a member whatever it does to its session, parent and environment.
type tree struct {
	leader  procKey
	session int
	cookie  string // "": members are not found by environment

	mu   sync.Mutex
	seen map[procKey]bool // guarded by mu
}

// members returns the living processes of the tree, the leader included,
// ordered by pid, and the dead ones that nobody has reaped.
func (t *tree) members() (live, dead []Proc, err error) {
	// Nothing that is older than the leader can descend from it.
	procs, err := listProcs(t.leader.start)
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pick(procs) {
		t.seen[p.key()] = true
		if p.Zombie() {
			dead = append(dead, p)
		} else {
			live = append(live, p)
		}
	}
	byPID := func(a, b Proc) int { return cmp.Compare(a.PID, b.PID) }
	slices.SortFunc(live, byPID)
	slices.SortFunc(dead, byPID)
	return live, dead, nil
}

// pick selects the tree's processes. The caller holds mu.
func (t *tree) pick(procs []Proc) []Proc {
	self := os.Getpid()
	ours := make(map[int]Proc)
	for _, p := range procs {
		if p.PID != self && p.PID != 1 && t.belongs(p) {
			ours[p.PID] = p
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range procs {
			_, already := ours[p.PID]
			_, child := ours[p.PPID]
			if child && !already && p.PID != self {
				ours[p.PID] = p
				grown = true
			}
		}
	}
	picked := make([]Proc, 0, len(ours))
	for _, p := range ours {
		picked = append(picked, p)
	}
	return picked
}

func (t *tree) belongs(p Proc) bool {
	switch {
	case p.key() == t.leader, t.seen[p.key()]:
		return true
	case p.Session == t.session: // its number is not given out again while the leader is unreaped
		return true
	case t.cookie == "" || p.Zombie():
		return false
	}
	return hasEnv(p.PID, CookieVariable+"="+t.cookie)
}

// reap collects dead members that were reparented to this process, which is a
// subreaper. It never waits for a process that it does not name, because
// other parts of the program wait for their own children.
func (t *tree) reap(dead []Proc) {
	self := os.Getpid()
	for _, p := range dead {
		if p.PPID == self && p.key() != t.leader {
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
