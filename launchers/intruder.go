package launchers

import (
	"context"
	"slices"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

// Intruder is the failure of a server beside which somebody else listens by
// now: where both allow it (SO_REUSEPORT, as llama-server does), the kernel
// gives each a part of the connections. Nil: nobody does, as far as can be seen.
func (s *Server) Intruder(ctx context.Context) *results.Failure {
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
func (s *Server) PortHolders() []results.Member {
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
