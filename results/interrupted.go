package results

import (
	"context"
	"errors"
)

// Interrupted is the failure of work that a done context cut short; where says
// at what it was.
func Interrupted(ctx context.Context, where string) *Failure {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return Failf(FailDeadline, "deadline passed, %s", where)
	}
	return Failf(FailInterrupted, "%v, %s", cause, where)
}
