package launchers

import (
	"context"

	"github.com/benchrig/bench/results"
)

// Intruder is the failure of a server beside which somebody else listens by
// now: where both allow it (SO_REUSEPORT, as llama-server does), the kernel
// gives each a part of the connections. Nil: nobody does, as far as can be seen.
func (s *Server) Intruder(ctx context.Context) *results.Failure {
	if s.process == nil {
		return nil
	}
	for strikes := 0; strikes < maxStrikes; {
		before := strikes
		if found := s.tryOwner(ctx, &strikes); found.final != nil && found.final.Class == results.FailForeign {
			return found.final
		}
		if strikes == before {
			return nil
		}
	}
	return nil
}
