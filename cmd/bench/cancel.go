package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/results"
)

const cancelLong = `Cancel the jobs of a run on a cluster: those that wait leave the queue, those
that run stop as on Ctrl-C: servers are stopped and proven gone, and what was
measured is kept. Only jobs are touched that the run's journal names and that
carry its name. 'bench resume' goes on later.`

func newCancelCommand(e env) *cobra.Command {
	now := false
	cmd := &cobra.Command{
		Use: "cancel DIR", Short: "Cancel the jobs of a run on a cluster", Long: cancelLong,
		Example: "  bench cancel results/night/20260131-220000-ab12",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, given []string) error { return runCancel(cmd.Context(), e, given[0], now) },
	}
	cmd.Flags().BoolVar(&now, "now", false, "have the cluster end running jobs at once; their steps are repeated by a resume")
	return cmd
}

func runCancel(ctx context.Context, e env, dir string, now bool) error {
	folder, err := results.Open(dir)
	if err != nil {
		return usageError(err)
	}
	run, err := results.Read(folder.Dir())
	if err != nil {
		return err
	}
	if len(run.Manifest.Groups) == 0 {
		return usageError(errNoJobs)
	}
	c := cluster{e: e, folder: folder, run: run.Manifest.Run}
	jobs, err := c.jobs(ctx)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		fmt.Fprintln(e.stdout, "no job of this run is queued or running")
		return nil
	}
	if err := c.cancel(ctx, jobs, now); err != nil {
		return err
	}
	return c.awaitEnd(ctx)
}

// cancel takes out of the queue what waits, and stops what runs.
func (c cluster) cancel(ctx context.Context, jobs map[string]slurm.Job, now bool) error {
	journal, err := c.folder.OpenJournal()
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
	message := fmt.Sprintf("%d taken out of the queue, %d asked to stop", len(jobs)-len(running), len(running))
	if now {
		message = fmt.Sprintf("%d taken out of the queue, %d ended", len(jobs)-len(running), len(running))
	}
	if err := journal.Append(results.Event{Kind: results.JobsCanceled, Message: message}); err != nil {
		return err
	}
	fmt.Fprintln(c.e.stdout, message)
	arrays, err := c.submissions()
	if err != nil {
		return err
	}
	name := slurm.JobName(c.run)
	if err := c.client.Cancel(ctx, name, slices.Sorted(maps.Keys(arrays)), now); err != nil || now {
		return err
	}
	return c.client.Stop(ctx, name, running)
}

// awaitEnd waits until no job of the run is left.
func (c cluster) awaitEnd(ctx context.Context) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	period := time.Second
	for {
		jobs, err := c.jobs(ctx)
		switch {
		case ctx.Err() != nil:
			fmt.Fprintln(c.e.Stderr, "the jobs that are left go on stopping")
			return nil
		case err != nil:
			return err
		case len(jobs) == 0:
			fmt.Fprintf(c.e.stdout, "no job is left; to go on: bench resume %s\n", c.folder.Dir())
			return nil
		}
		pause(ctx, period)
		period = min(lastLook, period+period/2)
	}
}
