package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

const (
	// settleTime lets children that notice their parent's end go by themselves.
	settleTime = 300 * time.Millisecond
	// termTime is what children that outlived the leader get after their own
	// SIGTERM. Some engines' workers need 4 s to give up on their parent.
	termTime = 5 * time.Second
	// killTime bounds the wait for killed processes. One that sits in an
	// uninterruptible system call (a dead device) never goes.
	killTime = 10 * time.Second

	minPoll = 10 * time.Millisecond
	maxPoll = 100 * time.Millisecond
)

// stopping is one attempt to end a tree.
type stopping struct {
	tree        *tree
	leader      proc.Process    // PID 0: there is none
	leaderDone  <-chan struct{} // closed when it has ended; nil: not a child of ours, look
	killNow     <-chan struct{} // closed: go straight to SIGKILL
	signal      func(proc.Process, unix.Signal) error
	orphanGrace time.Duration // see Config

	began   time.Time
	signals []string
	left    map[proc.Key]bool // members signalled after the leader had ended
	stuck   []int             // pids that SIGKILL does not end
}

func newStopping(t *tree, killNow <-chan struct{}) *stopping {
	send := func(p proc.Process, signal unix.Signal) error { return sendSignal(t.proc, p, signal) }

	return &stopping{
		tree: t, killNow: killNow, signal: send, began: time.Now(), orphanGrace: termTime,
		left: make(map[proc.Key]bool),
	}
}

func (s *stopping) run(grace time.Duration) error {
	// Look once while the leader lives: a child that has left its session and
	// dropped its environment can be recognised by its parent alone.
	if _, _, err := s.tree.members(); err != nil {
		return err
	}

	s.askLeader(grace)
	if gone, err := s.emptyWithin(settleTime); gone || err != nil {
		return err
	}
	for _, round := range s.rounds() {
		if s.askRest(round.whom) {
			if gone, err := s.emptyWithin(round.grace); gone || err != nil {
				return err
			}
		}
	}

	return s.kill()
}

// askLeader sends SIGTERM to the leader alone, so that it can take its
// children down in its own order, and waits for its end.
func (s *stopping) askLeader(grace time.Duration) {
	if s.leader.PID == 0 || s.leaderEnded() || s.killingNow() {
		return
	}

	s.send(s.leader, unix.SIGTERM)
	limited, free := awake.WithTimeout(context.Background(), grace)
	defer free()

	look := time.NewTicker(maxPoll)
	defer look.Stop()

	for {
		select {
		case <-s.leaderDone:
			return
		case <-look.C:
			if s.leaderEnded() {
				return
			}
		case <-limited.Done():
			return
		case <-s.killNow:
			return
		}
	}
}

func (s *stopping) leaderEnded() bool {
	if s.leaderDone != nil {
		select {
		case <-s.leaderDone:
			return true
		default:
			return false
		}
	}
	now, err := s.tree.proc.Process(s.leader.PID)
	return err != nil || now.StartTime != s.leader.StartTime || now.Zombie()
}

// round is a signal to members that outlived the leader, and the time that they
// get after it.
type round struct {
	whom  func(proc.Process, []proc.Process) bool // of the living members
	grace time.Duration
}

// rounds are one for all members; before it, where the kind of server has a longer
// grace, one for those above the others: an engine whose API server is gone takes its
// workers down in its own order, and reports a worker that ends before it as a fault.
func (s *stopping) rounds() []round {
	all := func(proc.Process, []proc.Process) bool { return true }
	if s.orphanGrace <= termTime {
		return []round{{all, s.orphanGrace}}
	}
	return []round{{topmost, s.orphanGrace - termTime}, {all, termTime}}
}

// topmost reports whether no other member is the process's parent.
func topmost(p proc.Process, members []proc.Process) bool {
	return !slices.ContainsFunc(members, func(other proc.Process) bool { return other.PID == p.PPID })
}

// askRest sends SIGTERM to the members but the leader that are chosen, and reports
// whether there were any.
func (s *stopping) askRest(chosen func(proc.Process, []proc.Process) bool) bool {
	live, _, err := s.tree.members()
	if err != nil || s.killingNow() {
		return false
	}
	asked := false
	for _, member := range live {
		if member.Key() != s.leader.Key() && chosen(member, live) {
			s.send(member, unix.SIGTERM)
			asked = true
		}
	}
	return asked
}

// kill sends SIGKILL to every member until there is none. A member may fork
// while it is being looked for, hence the rounds; out of a control group no
// fork leads.
func (s *stopping) kill() error {
	deadline := time.Now().Add(killTime)
	for {
		live, _, err := s.tree.members()
		if err != nil {
			return err
		}

		for _, member := range live {
			s.send(member, unix.SIGKILL)
		}

		if s.tree.groups.populated() {
			_ = s.tree.groups.kill() // whether it worked shows when it is looked at next
		}

		gone, err := s.empty(2 * maxPoll)
		if gone || err != nil {
			return err
		}

		if time.Now().After(deadline) {
			return s.giveUp()
		}
	}
}

// emptyWithin waits until the tree has no living member, up to limit or until
// KillNow is called.
func (s *stopping) emptyWithin(limit time.Duration) (bool, error) {
	if s.killingNow() {
		limit = 0
	}
	return s.empty(limit)
}

// empty is emptyWithin without regard to a KillNow from before. One
// look at /proc can miss a process that is forked during it, so two in
// sequence must find nothing.
func (s *stopping) empty(limit time.Duration) (bool, error) {
	deadline := time.Now().Add(limit)
	killNow := s.killNow
	if s.killingNow() {
		killNow = nil
	}

	pause, clean := minPoll, 0
	for {
		live, dead, err := s.tree.members()
		if err != nil {
			return false, err
		}
		s.tree.reap(dead)
		if len(live) == 0 && !s.tree.groups.populated() {
			clean++
		} else {
			clean = 0
		}
		if clean == 2 {
			return true, nil
		}
		if clean == 0 && time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-time.After(pause):
		case <-killNow:
			killNow, deadline = nil, time.Now()
		}
		pause = min(2*pause, maxPoll)
	}
}

func (s *stopping) send(member proc.Process, signal unix.Signal) {
	name := strings.TrimPrefix(unix.SignalName(signal), "SIG")
	if !slices.Contains(s.signals, name) {
		s.signals = append(s.signals, name)
	}
	if member.Key() != s.leader.Key() && (s.leader.PID == 0 || s.leaderEnded()) {
		s.left[member.Key()] = true
	}
	// Whether it worked shows when the tree is looked at next.
	_ = s.signal(member, signal)
}

func (s *stopping) killingNow() bool {
	select {
	case <-s.killNow:
		return true
	default:
		return false
	}
}

func (s *stopping) proof(gone bool) results.Proof {
	return results.Proof{
		Signals:    s.signals,
		LeftBehind: len(s.left),
		PIDsGone:   gone,
		StopS:      time.Since(s.began).Seconds(),
		Unkillable: s.stuck,
	}
}

// giveUp says who outlives SIGKILL and why.
func (s *stopping) giveUp() error {
	live, _, err := s.tree.members()
	if err != nil {
		return err
	}

	var names []string
	for _, member := range live {
		names = append(names, fmt.Sprintf("%d (state %c)", member.PID, member.State))
		if member.Unkillable() {
			s.stuck = append(s.stuck, member.PID)
		}
	}

	text := fmt.Sprintf("stop process: still there %v after SIGKILL: pid %s", killTime, strings.Join(names, ", "))
	switch {
	case len(s.stuck) > 0:
		text += "; state D or Z means that it waits in the kernel for a device, which only a reset or a reboot ends"
	case len(live) == 0:
		text = fmt.Sprintf("stop process: %v after SIGKILL the control groups %s still hold processes that cannot be "+
			"seen from here",
			killTime, s.tree.groups)
	}

	return errors.New(text)
}
