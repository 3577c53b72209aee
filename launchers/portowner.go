package launchers

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

// portOwner finds out who listens on the port of a server.
type portOwner struct{ *started }

// Intruder is the failure of a server beside which somebody else listens by
// now: where both allow it (SO_REUSEPORT, as llama-server does), the kernel
// gives each a part of the connections. Nil: nobody does, as far as can be seen.
func (s *portOwner) Intruder(ctx context.Context) *results.Failure {
	if s.process == nil || s.spec.Span.Step {
		return nil
	}
	for strikes := 0; strikes < ready.MaxStrikes; {
		before := strikes
		if found := s.tryOwner(ctx, &strikes); found.Final != nil && found.Final.Class == results.FailForeign {
			return found.Final
		}
		if strikes == before {
			return nil
		}
	}
	return nil
}

// PortHolders are the server's own processes that hold a socket listening on its
// port, as far as can be seen.
func (s *portOwner) PortHolders() []results.Member {
	if s.process == nil {
		return nil
	}
	tree, err := s.process.Tree()
	if err != nil {
		return nil
	}

	var holders []results.Member
	for _, l := range proc.System.Listeners(s.spec.Port) {
		for _, p := range tree {
			holder := results.Member{PID: p.PID, StartTime: p.StartTime}
			if !slices.Contains(holders, holder) && proc.System.OwnsSocket(p.PID, l.Inode) {
				holders = append(holders, holder)
			}
		}
	}
	return holders
}

// tryOwner proves that whoever answers is one of our processes: with
// SO_REUSEPORT two servers can share a port without noticing.
func (s *portOwner) tryOwner(ctx context.Context, strikes *int) ready.Step {
	if c, ok := s.process.(*container.Container); ok && !s.spec.Container.HostNetwork() {
		answer, done := c.Publishes(ctx, s.spec.Port)
		return ready.Step{Done: done, Answer: answer}
	}

	tree, err := s.process.Tree()
	if err != nil {
		return ready.Step{Answer: err.Error()}
	}

	host := ports.Reachable(s.spec.Host)
	ours := 0
	for _, l := range proc.System.Listeners(s.spec.Port) {
		if !l.Answers(host) {
			continue
		}
		owned := slices.ContainsFunc(tree, func(p proc.Process) bool { return proc.System.OwnsSocket(p.PID, l.Inode) })
		if !owned && !likelyOurs(tree, l.Inode) {
			*strikes++ // it may have been forked after the look at the tree
			return s.foreign(l, *strikes)
		}
		ours++
	}

	return ready.Step{Done: ours > 0, Answer: fmt.Sprintf("no socket of this machine listens on port %d", s.spec.Port)}
}

// likelyOurs stands in for the proof where the server's processes belong to
// another user, as those of a container often do, so that their sockets cannot
// be seen: the port was free before the start, and nobody who can be seen
// holds the socket.
func likelyOurs(tree []proc.Process, inode string) bool {
	hidden := func(p proc.Process) bool { return !proc.System.SocketsVisible(p.PID) }
	if !slices.ContainsFunc(tree, hidden) {
		return false
	}
	return len(proc.System.SocketHolders(inode)) == 0
}

// foreign is the failure of a listener outside of our process tree.
func (s *portOwner) foreign(l proc.Listener, strikes int) ready.Step {
	if strikes < ready.MaxStrikes {
		return ready.Step{Answer: fmt.Sprintf("port %d is answered by a process that is not known", s.spec.Port)}
	}
	who := "by a process that cannot be seen from here"
	if holders := proc.System.SocketHolders(l.Inode); len(holders) > 0 {
		pid := holders[0]
		who = fmt.Sprintf("by pid %d (%s)", pid, proc.System.Program(pid))
	}
	return ready.Step{Final: results.Failf(results.FailForeign,
		"port %d is answered %s, which this server's process %d did not start: set another port:",
		s.spec.Port, who, s.process.Info().PID)}
}
