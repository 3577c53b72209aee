package step

import (
	"context"
	"slices"
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
func waitForExitNotice(ctx context.Context, last results.FailureClass, servers []Server) {
	switch {
	case last == results.FailTransport && !slices.ContainsFunc(servers, inContainer):
		Pause(ctx, exitNoticeDelay)
	case last == results.FailTransport, last == results.FailConnect:
		Pause(ctx, containerExitNoticeDelay)
	}
}

func inContainer(s Server) bool { return s.Info().Container != nil }
