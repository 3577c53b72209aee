package launchers

import (
	"context"

	"github.com/benchrig/bench/launchers/ready"
	"github.com/benchrig/bench/results"
)

// Intruder is the failure of a server beside which somebody else listens by
// now: where both allow it (SO_REUSEPORT, as llama-server does), the kernel
// gives each a part of the connections. Nil: nobody does, as far as can be seen.
func (s *Server) Intruder(ctx context.Context) *results.Failure {
	if s.process == nil {
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
