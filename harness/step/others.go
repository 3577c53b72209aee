package step

import (
	"context"

	"github.com/benchrig/bench/results"
)

// answeredByOthers returns a failure if another process than the servers may have
// answered some requests of a pass.
func answeredByOthers(ctx context.Context, servers []Server) *results.Failure {
	for _, s := range servers {
		if find := s.Abilities().Intruder; find != nil {
			if other := find(ctx); other != nil {
				return other
			}
		}
	}
	return nil
}
