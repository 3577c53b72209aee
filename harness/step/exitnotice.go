package step

import (
	"context"
	"time"

	"github.com/benchrig/bench/results"
)

// How long after its connections broke the exit of a server may be noticed: that
// of a process at once, that of a container through its engine.
const (
	exitNoticeDelay          = time.Second
	containerExitNoticeDelay = 5 * time.Second
)

// waitForExitNotice waits until the exit of a server may have been noticed, where
// requests failed as they do when a server exits. The notice ends ctx with the
// server's last words, which explain more than a connection that broke.
func waitForExitNotice(ctx context.Context, last results.FailureClass) {
	switch last {
	case results.FailTransport:
		Pause(ctx, exitNoticeDelay)
	case results.FailConnect: // no process listens any more
		Pause(ctx, containerExitNoticeDelay)
	default:
	}
}
