package main

import (
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/simserver"
)

// newSimulateLlamaBenchCommand is the program that stands in for llama-bench
// under --sim.
func newSimulateLlamaBenchCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "simulate-llama-bench", Short: "Print what llama-bench might print",
		Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, given []string) error {
			var b simserver.LlamaBench
			fs := pflag.NewFlagSet("simulate-llama-bench", pflag.ContinueOnError)
			fs.SetOutput(e.Stderr)
			simserver.LlamaBenchFlags(fs, &b)
			if err := fs.Parse(simserver.NormalizeLlamaBenchArgs(given)); err != nil {
				return usageError(err)
			}

			if v, _ := e.Lookup("ROCBLAS_USE_HIPBLASLT"); v == "1" && !fs.Changed("sim-prefill") {
				b.Prefill = 1.1
			}

			fmt.Fprintln(e.Stderr, "bench simulator: this is not llama-bench; figures are simulated")
			ctx, stop := signal.NotifyContext(cmd.Context(), unix.SIGINT, unix.SIGTERM)
			defer stop()
			return b.Run(ctx, e.stdout)
		},
	}
}
