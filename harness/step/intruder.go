package step

import (
	"context"

	"github.com/benchrig/bench/results"
)

// exclusive is a Server that can tell whether somebody else got a part of its
// requests.
type exclusive interface {
	Intruder(ctx context.Context) *results.Failure
}

// intruder is the failure of a pass of which others than its servers may have
// answered requests; nil if none did.
func intruder(ctx context.Context, servers []Server) *results.Failure {
	for _, s := range servers {
		if e, ok := s.(exclusive); ok {
			if other := e.Intruder(ctx); other != nil {
				return other
			}
		}
	}
	return nil
}
