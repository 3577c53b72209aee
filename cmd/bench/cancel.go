package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/results/store"
)

const cancelLong = `Cancel the jobs of a run on a cluster. Waiting jobs leave the queue. Running jobs
stop as on Ctrl-C: servers are stopped and proven gone, and what was measured is
kept. Only jobs that the run's journal lists and that carry its name are touched.
'bench resume' continues the run later.`

func newCancelCommand(e env) *cobra.Command {
	now := false
	cmd := &cobra.Command{
		Use: "cancel DIR", Short: "Cancel the jobs of a run on a cluster", Long: cancelLong,
		Example:           "  bench cancel results/night/20260131-220000-ab12",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command,
			given []string,
		) error {
			return runCancel(cmd.Context(), e, given[0], now)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "kill running jobs at once; bench resume repeats their steps")
	return cmd
}

func runCancel(ctx context.Context, e env, dir string, now bool) error {
	folder, err := openRun(e, dir)
	if err != nil {
		return usageError(err)
	}

	run, err := store.Read(folder.Dir())
	if err != nil {
		return err
	}
	if len(run.Manifest.Groups) == 0 {
		return cluster.ErrNoJobs
	}

	c := cluster.Cluster{Process: e.Process, Folder: folder, Run: run.Manifest.Run}
	jobs, err := c.Jobs(ctx)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		fmt.Fprintln(e.stdout, "no job of this run is queued or running")
		return nil
	}
	if err := c.Cancel(ctx, e.stdout, jobs, now); err != nil {
		return err
	}

	ctx, stop := interruptible(ctx)
	defer stop()

	return c.Wait(ctx, e.stdout)
}
