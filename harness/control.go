package harness

import (
	"context"
	"sync"

	"github.com/benchrig/bench/results"
)

// Control lets somebody end parts of a run while it runs. All methods may be
// called from anywhere and work on nil.
type Control struct {
	mu   sync.Mutex // guards what follows
	skip context.CancelCauseFunc
	what string
	stop bool
}

// Skip ends the step that runs, or the launch that is under way with all steps
// that wait for it. What was measured is kept; the steps have failed, with
// class skipped-by-user. False: there is nothing that could be skipped now.
func (c *Control) Skip() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skip == nil {
		return false
	}
	c.skip(results.Failf(results.FailSkipped, "%s was skipped by the user", c.what))
	c.skip = nil
	return true
}

// StopAfterStep sets whether the run is to end after the step that runs. The
// rest is not run then, and can be resumed.
func (c *Control) StopAfterStep(yes bool) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = yes
}

// Stopping is why no further step is to be begun; nil: one may.
func (c *Control) Stopping() *results.Failure {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stop {
		return nil
	}
	return results.Failf(results.FailInterrupted, "stopped by the user after the previous step")
}

// skippable gives a context that ends when the user skips what, until leave is
// called.
func (c *Control) skippable(ctx context.Context, what string) (_ context.Context, leave func()) {
	if c == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skip, c.what = cancel, what
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.skip = nil
		cancel(nil)
	}
}

// halt is why nothing more of a run is started. Several causes may come
// together; the gravest one is kept, and of equals the first.
type halt struct{ why *results.Failure }

// set halts the run for a reason, unless it is halted for a graver one.
func (h *halt) set(why *results.Failure) {
	if h.why == nil || gravity(why.Class) > gravity(h.why.Class) {
		h.why = why
	}
}

// gravity orders causes by what they mean for whoever comes next: a server that
// may still run spoils every measurement on the machine, a full disk every
// record.
func gravity(class results.FailureClass) int {
	switch class {
	case results.FailNoProof:
		return 2
	case results.FailDisk:
		return 1
	default:
		return 0
	}
}
