package launchers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

// ladder is what a server must show, in order. The names are those of
// results.Phase. The port's owner is checked before anything that answers there
// is believed: a stranger may have taken the port since it was chosen.
func (s *Server) ladder() []ready.Stage {
	var stages []ready.Stage
	if s.process != nil {
		stages = append(stages, ready.Stage{Name: "alive", What: "the process", Try: s.tryAlive})
	}

	stages = append(stages, ready.TCP(s.Endpoint, s.process == nil, s.began))
	if s.process != nil && !s.spec.Span.Step { // whose listeners are not srun's
		strikes := 0
		stages = append(stages, ready.Stage{
			Name: ownerStage, What: "the port's owner",
			Try: func(ctx context.Context) ready.Step {
				return s.tryOwner(ctx, &strikes)
			},
		})
	}
	if s.log != nil && s.spec.Ready.Log != "" {
		stages = append(stages, ready.Log(s.log, s.spec.Ready.Log))
	}
	if path := cmp.Or(s.spec.Ready.Path, s.kind.HealthPath); path != "" {
		stages = append(stages, ready.Health(s.Endpoint, path))
	}
	if s.kind.ModelsPath != "" {
		stages = append(stages, ready.Model(s.Endpoint, s.kind))
	}

	if s.spec.Inner {
		return stages // a prefill server may answer nobody but its router, whose token shows that all work
	}
	if s.spec.Answer.Path != "" {
		return append(stages, ready.Answer(s.Endpoint, s.spec.Answer))
	}
	return append(append(stages, ready.Token(s.Endpoint)), s.besideStages()...)
}

func (s *Server) tryAlive(context.Context) ready.Step {
	_, exited := s.process.Exit()
	return ready.Step{Done: !exited, Answer: "the process has ended"}
}

// unlessIntruder makes the results of the stages behind that of the port's owner
// count only if nobody has begun to share the port: an answer may be a stranger's.
func (s *Server) unlessIntruder(stages []ready.Stage) []ready.Stage {
	owner := slices.IndexFunc(stages, func(stage ready.Stage) bool { return stage.Name == ownerStage })
	for i := owner + 1; owner >= 0 && i < len(stages); i++ {
		try := stages[i].Try
		stages[i].Try = func(ctx context.Context) ready.Step {
			result := try(ctx)
			if result.Done || result.Final != nil {
				if failure := s.Intruder(ctx); failure != nil {
					return ready.Step{Final: failure}
				}
			}
			return result
		}
	}
	return stages
}

// ownerStage is the name of the stage that checks who has the port.
const ownerStage = "owner"

// tryOwner proves that whoever answers is one of our processes: with
// SO_REUSEPORT two servers can share a port without noticing.
func (s *Server) tryOwner(ctx context.Context, strikes *int) ready.Step {
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
func (s *Server) foreign(l proc.Listener, strikes int) ready.Step {
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
