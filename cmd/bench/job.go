package main

import (
	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/cluster"
)

const jobLong = `Carry out one group of a run's steps as a job of a Slurm cluster. 'bench run --on
slurm' submits such jobs; it is not meant to be run by hand.

The group is the one at SLURM_ARRAY_TASK_ID among those given. Steps with a
verdict are kept. On SIGUSR1, which announces the time limit, servers are stopped
and the job is queued again for the remaining steps.`

func newJobCommand(e env) *cobra.Command {
	retries := ""
	cmd := &cobra.Command{
		Use: "job DIR GROUP...", Short: "Carry out a part of a run as a job of a cluster", Long: jobLong, Hidden: true,
		Example: "  bench job /shared/results/night/20260131-220000-ab12 g001 g002",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, given []string) error {
			outcome, err := cluster.Job(cmd.Context(), e.Process, e.screen.Show, given[0], given[1:], retries)
			if err != nil {
				return err
			}
			return exitOf(outcome)
		},
	}

	cmd.Flags().StringVar(&retries, "retry", "", "`FILE` in DIR with the failed steps to repeat")
	return cmd
}
