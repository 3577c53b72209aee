package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

// Cancel takes out of the queue what waits, and stops what runs: cleanly, or at
// once if now. w gets the numbers of both.
func (c Cluster) Cancel(ctx context.Context, w io.Writer, jobs map[string]slurm.Job, now bool) (err error) {
	right, err := c.Folder.Submit()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, right.Release()) }()

	journal, err := c.Folder.OpenJournal()
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already

	var running []slurm.Job
	for _, group := range slices.Sorted(maps.Keys(jobs)) {
		if job := jobs[group]; job.Running() {
			running = append(running, job)
		}
	}

	message := fmt.Sprintf("%d removed from the queue, %d asked to stop", len(jobs)-len(running), len(running))
	if now {
		message = fmt.Sprintf("%d removed from the queue, %d killed", len(jobs)-len(running), len(running))
	}
	if err := journal.Append(results.Event{Kind: results.JobsCanceled, Message: message}); err != nil {
		return err
	}

	fmt.Fprintln(w, message)
	arrays, err := c.submissions()
	if err != nil {
		return err
	}

	name := slurm.JobName(c.Run)
	if err := c.client.Cancel(ctx, name, slices.Sorted(maps.Keys(arrays)), now); err != nil || now {
		return err
	}

	return c.client.Stop(ctx, name, running)
}

// Wait waits until no job of the run is left.
func (c Cluster) Wait(ctx context.Context, w io.Writer) error {
	period := time.Second
	for {
		jobs, err := c.Jobs(ctx)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(c.Process.Stderr, "the remaining jobs are still stopping")
			return nil //nolint:nilerr // the user stopped waiting
		case err != nil:
			return err
		case len(jobs) == 0:
			fmt.Fprintf(w, "no job is left; to continue: bench resume %s\n", c.Folder.Dir())
			return nil
		}
		sleep.For(ctx, period)
		period = min(lastLook, period+period/2)
	}
}
