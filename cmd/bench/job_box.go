package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/state"
)

// takeJobBox takes the job's own part of the box, and ends what jobs of ours
// have left on the machine that do not run any more.
func (s *session) takeJobBox(ctx context.Context, g grant, what string) error {
	root, err := s.e.JobStateRoot()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("%w; set BENCH_STATE_DIR to a folder on the node that can be written", err)
	}
	waiting, free := context.WithTimeoutCause(ctx, jobBoxTime, errors.New("another bench has its state on this node"))
	defer free()
	if s.state, s.lock, err = state.LockJob(waiting, root, g.job, what); err != nil {
		return err
	}
	with := s.e.Cleaner(s.inventory, s.readers.Watcher())
	return errors.Join(leftovers.RemoveAll(ctx, s.e.Stderr, s.state, with), leftovers.RemoveJobs(ctx, s.e.Stderr, root, with))
}

// jobBoxTime is longer than another job looks for what this one may have left
// before it was queued again.
const jobBoxTime = 5 * time.Minute
