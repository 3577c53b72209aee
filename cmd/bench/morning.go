package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results/store"
)

const morningLong = `Print what the last night brought: which runs ended and how, what won by how
much, what failed and why, what to do now, and how the queue stands.

A DIR is a run folder, or a folder of runs of which those are taken that were
written to within --since; without one it is results/.`

func newMorningCommand(e env) *cobra.Command {
	since := 16 * time.Hour
	cmd := &cobra.Command{
		Use: "morning [DIR...]", Short: "Print what the runs of the last night brought", Long: morningLong,
		Example: "  bench morning\n  bench morning /data/results --since 60h", ValidArgsFunction: runFolders,
		RunE: func(_ *cobra.Command, dirs []string) error { return printMorning(e, dirs, time.Now().Add(-since)) },
	}
	cmd.Flags().DurationVar(&since, "since", since, "how far back")
	return cmd
}

func printMorning(e env, dirs []string, since time.Time) error {
	if len(dirs) == 0 {
		dirs = []string{store.DefaultDir}
	}
	nights, err := report.ReadNights(dirs, since)
	return errors.Join(report.Morning(e.stdout, nights, table.Options{Width: e.width, Color: e.width > 0}), err,
		printQueue(e, since, false))
}
