package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/results/store"
)

const morningLong = `Summarize the runs of last night: how each ended, which variant won and by how
much, what failed and why, what to do next, and the state of the queue.

DIR is a run folder, or a folder with runs (default: results). Of a folder with
runs, those that changed within --since are shown.`

func newMorningCommand(e env) *cobra.Command {
	since := 16 * time.Hour
	cmd := &cobra.Command{
		Use: "morning [DIR...]", Short: "Summarize the runs of last night", Long: morningLong,
		Example: "  bench morning\n  bench morning /data/results --since 60h", ValidArgsFunction: runFolders,
		RunE: func(_ *cobra.Command, dirs []string) error { return printMorning(e, dirs, time.Now().Add(-since)) },
	}
	cmd.Flags().DurationVar(&since, "since", since, "show runs that changed within this time")
	return cmd
}

func printMorning(e env, dirs []string, since time.Time) error {
	if len(dirs) == 0 {
		dirs = []string{store.DefaultDir}
	}
	nights, err := report.ReadNights(dirs, since)
	return errors.Join(report.Morning(e.stdout, nights, e.tables()), err,
		printQueue(e, since, false))
}
