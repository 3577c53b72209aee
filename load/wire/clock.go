package wire

import (
	"context"
	"time"
)

// Clock counts the time since the pass began, on the monotonic clock.
type Clock struct{ Start time.Time }

// StartClock returns a clock whose zero is now.
func StartClock() Clock { return Clock{Start: time.Now()} }

// Now returns the time since the pass began.
func (c Clock) Now() time.Duration { return time.Since(c.Start) }

// SleepUntil waits for time at of the pass and reports whether it came before
// ctx ended.
func (c Clock) SleepUntil(ctx context.Context, at time.Duration) bool {
	wait := at - c.Now()
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
