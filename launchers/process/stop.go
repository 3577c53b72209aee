package process

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// KillNow makes a Stop that runs or comes go straight to SIGKILL.
func (p *Process) KillNow() { p.killNowOnce.Do(func() { close(p.killNow) }) }

// Stop ends the whole tree: SIGTERM to the leader, up to grace for it to end,
// SIGTERM to what is left, SIGKILL to what is left then, again and again until
// nothing is. It returns when all is gone, or with an error naming what cannot
// be ended. A done ctx means KillNow, not giving up: the time after SIGKILL is
// bounded anyway. Stop may be called again and from several goroutines; after
// a success it returns the same proof. PortFree is the caller's to prove.
func (p *Process) Stop(ctx context.Context, grace time.Duration) (results.Proof, error) {
	unhook := context.AfterFunc(ctx, p.KillNow)
	defer unhook()

	p.stopMu.Lock()
	defer p.stopMu.Unlock()

	select {
	case <-p.gone:
		return p.proof, nil
	default:
	}

	s := newStopping(&p.tree, p.killNow)
	s.orphanGrace = cmp.Or(p.orphanGrace, termTime)
	s.leader, s.leaderDone = proc.Process{PID: p.info.PID, StartTime: p.info.StartTime}, p.done
	err := s.run(grace)
	if err == nil {
		p.reapLeader()
	}

	p.proof = s.proof(err == nil)
	if code, ok := p.Exit(); ok {
		p.proof.ExitCode = &code
	}

	return p.proof, err
}

// Terminate sends SIGTERM to the leader, for one that may have lost it during a
// Stop.
func (p *Process) Terminate() {
	leader := proc.Process{PID: p.info.PID, StartTime: p.info.StartTime}
	_ = sendSignal(p.tree.proc, leader, unix.SIGTERM) // whether it worked shows by its end
}

// reapLeader reaps the leader of a tree that is gone. From here on its pid and
// session may be given to others.
func (p *Process) reapLeader() {
	<-p.done
	_ = p.cmd.Wait()           // the exit code is known already
	_ = p.tree.groups.remove() // an empty folder does no harm
	p.tree.unregister()
	close(p.gone)
}

// EndStray ends a process that belongs to the tree although the tree was
// proven gone, and reports whether it does: one that the kernel hid from us,
// known by a GPU that it holds. What cannot be shown to be ours is left alone.
func (p *Process) EndStray(pid int) (bool, error) {
	found, err := p.tree.proc.Process(pid)
	if err != nil || found.Zombie() || found.StartTime < p.tree.since {
		return false, nil //nolint:nilerr // there is no such process
	}
	p.tree.mu.Lock()
	ours := p.tree.seen[found.Key()]
	p.tree.mu.Unlock()
	if !ours {
		ours, _ = p.tree.cookie.carriedBy(p.tree.proc, pid)
	}
	if !ours && !p.tree.groups.holds(p.tree.proc.Cgroup(pid)) {
		return false, nil
	}
	return true, sendSignal(p.tree.proc, found, unix.SIGKILL)
}
