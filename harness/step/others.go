package step

import (
	"context"

	"github.com/benchrig/bench/results"
)

// exclusive is a Server that knows whether another process may have answered
// some of its requests.
type exclusive interface {
	Intruder(ctx context.Context) *results.Failure
}

// answeredByOthers returns a failure if another process than the servers may have
// answered some requests of a pass.
func answeredByOthers(ctx context.Context, servers []Server) *results.Failure {
	for _, s := range servers {
		if e, ok := s.(exclusive); ok {
			if other := e.Intruder(ctx); other != nil {
				return other
			}
		}
	}
	return nil
}
