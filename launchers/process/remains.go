package process

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// Remains is what is left of a tree that an earlier program started and noted.
type Remains struct {
	tree      tree
	leader    proc.Process // PID 0: it is gone, or was never noted
	live      []proc.Process
	strangers []Stranger
}

// Stranger is a process that looks like a remainder but is not one as far as can
// be shown. It is left alone.
type Stranger struct {
	PID int    `json:"pid"`
	Why string `json:"why"`
}

// Find looks for what is left of a tree by what was noted of it. A process is
// ours if it is of this boot and of this user, and has the noted pid and start
// time, or carries the cookie, or is in the session or a descendant of such a
// one; or if it is in the tree's control group, whose name nobody else uses; or
// if it is a noted member, by pid and start time.
// Nothing else is: not a pid that was given out again, not what cannot be
// looked into.
func Find(noted results.Process) (*Remains, error) {
	return find(proc.System, os.Geteuid(), noted, false)
}

// None is what is left of a tree that ended with an earlier boot of the machine.
func None() *Remains {
	return &Remains{tree: tree{proc: proc.System, uid: os.Geteuid(), seen: make(map[proc.Key]bool)}}
}

// FindRun looks for processes that carry a run's cookie, or one that begins
// with it and a point, as those of its servers do, and for those in control
// groups that are named after such a cookie.
func FindRun(cookie string) (*Remains, error) {
	return find(proc.System, os.Geteuid(), results.Process{Cookie: cookie}, true)
}

func find(procfs proc.FS, uid int, noted results.Process, wholeRun bool) (*Remains, error) {
	if procfs == proc.System {
		if err := checkProc(); err != nil {
			return nil, err
		}
	}

	r := &Remains{tree: tree{
		proc: procfs, cookie: cookie{noted.Cookie, wholeRun}, uid: uid,
		seen: make(map[proc.Key]bool),
	}}
	if noted.BootID != "" && noted.BootID != procfs.BootID() {
		return None(), nil // everything ended with that boot; pids and times mean others now
	}

	r.tree.session = noted.Session
	if noted.PID != 0 && noted.StartTime != 0 {
		r.tree.leader = proc.Key{PID: noted.PID, StartTime: noted.StartTime}
		r.tree.since = noted.StartTime
	}

	for _, m := range noted.Members {
		r.tree.seen[proc.Key{PID: m.PID, StartTime: m.StartTime}] = true
	}

	if group, ok := openCgroup(procfs, noted.Cgroup); ok {
		r.tree.groups = cgroups{group}
	}
	if wholeRun {
		r.tree.groups = runCgroups(procfs, r.tree.cookie)
	}

	return r, r.look(noted)
}

// look takes down who is left, and who only looks like it.
func (r *Remains) look(noted results.Process) error {
	live, _, err := r.tree.members()
	if err != nil {
		return err
	}

	r.live = live
	ours := make(map[int]bool)
	for _, p := range live {
		ours[p.PID] = true
		if p.Key() == r.tree.leader {
			r.leader = p
		}
	}

	all, err := r.tree.proc.Processes(0)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}

	for _, p := range all {
		if why := r.strange(p, noted); why != "" && !ours[p.PID] && !p.Zombie() && p.PID != os.Getpid() {
			r.strangers = append(r.strangers, Stranger{p.PID, why})
		}
	}

	slices.SortStableFunc(r.strangers, func(a, b Stranger) int { return cmp.Compare(a.PID, b.PID) })
	return nil
}

// strange says why a process that was not found to be ours looks like it; ""
// if it does not.
func (r *Remains) strange(p proc.Process, noted results.Process) string {
	carries, readable := r.tree.cookie.carriedBy(r.tree.proc, p.PID)
	uid, known := r.tree.proc.Owner(p.PID)
	mine := known && uid == r.tree.uid
	switch {
	case carries && !mine, p.Key() == r.tree.leader && !mine:
		return fmt.Sprintf("it belongs to user %d", uid)
	case p.PID == noted.PID:
		return "its pid was ours and has been reused"
	case noted.Session != 0 && p.Session == noted.Session && !readable:
		return "its session id is ours, but its environment cannot be read"
	case noted.Session != 0 && p.Session == noted.Session:
		return "its session id is ours, but its environment lacks the run's cookie"
	}
	return ""
}

// Procs are the living processes that are left, ordered by pid.
func (r *Remains) Procs() []proc.Process { return r.live }

// Strangers are processes that look like ours and are left alone.
func (r *Remains) Strangers() []Stranger { return r.strangers }

// End ends what is left, in the way of Process.Stop: members whose leader is gone get
// orphanGrace, but at least 5 s. A done ctx means SIGKILL at once. PortFree is the
// caller's to prove; the exit code is nobody's to know.
func (r *Remains) End(ctx context.Context, grace, orphanGrace time.Duration) (results.Proof, error) {
	s := newStopping(&r.tree, ctx.Done())
	s.leader, s.orphanGrace = r.leader, max(termTime, orphanGrace)
	err := s.run(grace)
	if err == nil {
		_ = r.tree.groups.remove() // an empty folder does no harm
	}
	return s.proof(err == nil), err
}
