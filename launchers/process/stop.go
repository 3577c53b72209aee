package process

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"benchrig/results"
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

// Hurry makes a Stop that runs or comes go straight to SIGKILL.
func (p *Process) Hurry() { p.hurryOnce.Do(func() { close(p.hurry) }) }

// Stop ends the whole tree: SIGTERM to the leader, up to grace for it to end,
// SIGTERM to what is left, SIGKILL to what is left then, again and again until
// nothing is. It returns when all is gone, or with an error naming what cannot
// be ended. A done ctx means Hurry, not giving up: the time after SIGKILL is
// bounded anyway. Stop may be called again and from several goroutines; after
// a success it returns the same proof. PortFree is the caller's to prove.
func (p *Process) Stop(ctx context.Context, grace time.Duration) (results.Proof, error) {
	unhook := context.AfterFunc(ctx, p.Hurry)
	defer unhook()
	p.stopMu.Lock()
	defer p.stopMu.Unlock()
	select {
	case <-p.gone:
		return p.proof, nil
	default:
	}
	s := stopping{process: p, left: make(map[procKey]bool), began: time.Now()}
	err := s.run(grace)
	if err == nil {
		close(p.gone)
	}
	p.proof = s.proof(err == nil)
	return p.proof, err
}

// stopping is one attempt to end a tree.
type stopping struct {
	process *Process
	began   time.Time
	signals []string
	left    map[procKey]bool // members signalled after the leader had ended
}

func (s *stopping) run(grace time.Duration) error {
	// Look once while the leader lives: a child that has left its session and
	// dropped its environment can be told by its parent alone.
	if _, _, err := s.process.tree.members(); err != nil {
		return err
	}
	s.askLeader(grace)
	if gone, err := s.emptyWithin(settleTime); gone || err != nil {
		return s.finish(err)
	}
	if s.askRest() {
		if gone, err := s.emptyWithin(termTime); gone || err != nil {
			return s.finish(err)
		}
	}
	return s.finish(s.kill())
}

// askLeader sends SIGTERM to the leader alone, so that it can take its
// children down in its own order, and waits for its end.
func (s *stopping) askLeader(grace time.Duration) {
	p := s.process
	if _, exited := p.Exit(); exited || s.hurried() {
		return
	}
	s.send(Proc{PID: p.info.PID, StartTime: p.info.StartTime}, unix.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-p.hurry:
	}
}

// askRest sends SIGTERM to all members but the leader and reports whether
// there were any.
func (s *stopping) askRest() bool {
	live, _, err := s.process.tree.members()
	if err != nil || s.hurried() {
		return false
	}
	asked := false
	for _, member := range live {
		if member.key() != s.process.tree.leader {
			s.send(member, unix.SIGTERM)
			asked = true
		}
	}
	return asked
}

// kill sends SIGKILL to every member until there is none. A member may fork
// while it is being looked for, hence the rounds.
func (s *stopping) kill() error {
	deadline := time.Now().Add(killTime)
	for {
		live, _, err := s.process.tree.members()
		if err != nil {
			return err
		}
		for _, member := range live {
			s.send(member, unix.SIGKILL)
		}
		gone, err := s.empty(2 * maxPoll)
		if gone || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return s.stuck(live)
		}
	}
}

// emptyWithin waits until the tree has no living member, up to limit or until
// someone is in a hurry.
func (s *stopping) emptyWithin(limit time.Duration) (bool, error) {
	if s.hurried() {
		limit = 0
	}
	return s.empty(limit)
}

// empty is emptyWithin without regard to a hurry that was there before. One
// look at /proc can miss a process that is forked during it, so two in
// sequence must find nothing.
func (s *stopping) empty(limit time.Duration) (bool, error) {
	deadline := time.Now().Add(limit)
	hurry := s.process.hurry
	if s.hurried() {
		hurry = nil
	}
	pause, clean := minPoll, 0
	for {
		live, dead, err := s.process.tree.members()
		if err != nil {
			return false, err
		}
		s.process.tree.reap(dead)
		if len(live) == 0 {
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
		case <-hurry:
			hurry, deadline = nil, time.Now()
		}
		pause = min(2*pause, maxPoll)
	}
}

// finish reaps the leader of a tree that is gone; err is passed through. From
// here on its pid and session may be given to others.
func (s *stopping) finish(err error) error {
	if err != nil {
		return err
	}
	<-s.process.done
	_ = s.process.cmd.Wait() // the exit code is known already
	return nil
}

func (s *stopping) send(member Proc, signal unix.Signal) {
	name := strings.TrimPrefix(unix.SignalName(signal), "SIG")
	if !slices.Contains(s.signals, name) {
		s.signals = append(s.signals, name)
	}
	if _, exited := s.process.Exit(); exited && member.key() != s.process.tree.leader {
		s.left[member.key()] = true
	}
	// Whether it worked shows when the tree is looked at next.
	_ = sendSignal(member, signal)
}

func (s *stopping) hurried() bool {
	select {
	case <-s.process.hurry:
		return true
	default:
		return false
	}
}

func (s *stopping) proof(gone bool) results.Proof {
	proof := results.Proof{
		Signals:    s.signals,
		LeftBehind: len(s.left),
		PIDsGone:   gone,
		StopS:      time.Since(s.began).Seconds(),
	}
	if code, ok := s.process.Exit(); ok {
		proof.ExitCode = &code
	}
	return proof
}

// stuck describes members that outlive SIGKILL.
func (s *stopping) stuck(live []Proc) error {
	var names []string
	for _, member := range live {
		names = append(names, fmt.Sprintf("%d (state %c)", member.PID, member.State))
	}
	return fmt.Errorf("stop process %d: still there %v after SIGKILL: pid %s; state D means that it waits for a device",
		s.process.info.PID, killTime, strings.Join(names, ", "))
}
