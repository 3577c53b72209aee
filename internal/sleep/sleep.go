// Package sleep waits in ways that can be cut short.
//
// What goes in: contexts, durations and channels. What comes out: whether the time
// has passed. It measures no time and starts nothing that outlives its caller.
package sleep

import (
	"context"
	"time"
)

// For waits for d; false if ctx was done first.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()

	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// UnlessClosed is ctx until the channel is closed; nil: never. The returned
// function frees what that takes.
func UnlessClosed(ctx context.Context, closed <-chan struct{}) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)

	select {
	case <-closed:
		cancel()
		return limited, cancel
	default:
	}

	go func() {
		select {
		case <-closed:
			cancel()
		case <-limited.Done():
		}
	}()

	return limited, cancel
}
