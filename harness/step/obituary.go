package step

import (
	"context"
	"time"

	"github.com/benchrig/bench/results"
)

// How long the news of a server's end may come after its connections broke: a
// process is told of at once, a container by way of its engine.
const (
	newsOfProcess   = time.Second
	newsOfContainer = 5 * time.Second
)

// awaitObituary gives the news time to arrive that a server has ended, where
// requests failed as they do then. The news ends ctx with what the server said
// last, which explains more than a connection that broke.
func awaitObituary(ctx context.Context, last results.FailureClass) {
	switch last {
	case results.FailTransport:
		Pause(ctx, newsOfProcess)
	case results.FailConnect: // nobody listens any more
		Pause(ctx, newsOfContainer)
	default:
	}
}
