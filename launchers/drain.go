package launchers

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/ready"
)

// drain waits until the server works on no request, for Spec.Drain at most, and
// says what was still running then, "" for nothing or nothing known. Requests
// whose clients have gone can keep a server busy, and some engines do not end
// well while they are.
func (s *Server) drain(ctx context.Context, killNow <-chan struct{}) string {
	if s.spec.Drain <= 0 || s.Failure() != nil {
		return ""
	}

	limited, cancel := awake.WithTimeout(ctx, s.spec.Drain)
	defer cancel()

	go func() {
		select {
		case <-killNow:
			cancel()
		case <-limited.Done():
		}
	}()
	began, last := time.Now(), 0
	for {
		running, known := s.Outstanding(limited)
		switch {
		case limited.Err() != nil && last > 0:
			return fmt.Sprintf("%s still running after a wait of %.1f s", text.Count(last, "request"),
				time.Since(began).Seconds())
		case !known || running == 0 || limited.Err() != nil:
			return ""
		}
		last = running
		sleep.For(limited, ready.MaxPoll/4)
	}
}
