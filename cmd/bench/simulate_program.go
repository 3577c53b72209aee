package main

import (
	"errors"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/simserver/simbench"
)

// newSimulateProgramCommand stands in for the programs that measure without a
// server, under --sim.
func newSimulateProgramCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use:    engines.SimulateProgram + " METHOD",
		Short:  "Print what a program might print that measures without a server",
		Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, given []string) error {
			fmt.Fprintf(e.Stderr, "bench simulator: this is not %s; figures are simulated\n", given[0])
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
			defer stop()
			err := simbench.Run(ctx, given[0], given[1:], e.Lookup, e.stdout)
			if _, ok := errors.AsType[simbench.ArgumentError](err); ok {
				return usageError(err)
			}
			return err
		},
	}
}
