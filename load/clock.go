package load

import (
	"context"
	"time"
)

// clock counts the time since the pass began, on the monotonic clock.
type clock struct{ start time.Time }

func startClock() clock { return clock{start: time.Now()} }

func (c clock) now() time.Duration { return time.Since(c.start) }

// sleepUntil waits for time at of the pass and reports whether it came before
// ctx ended.
func (c clock) sleepUntil(ctx context.Context, at time.Duration) bool {
	wait := at - c.now()
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
