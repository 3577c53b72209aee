package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const rootLong = `bench measures inference servers. A scenario file says which server variants
to launch and what traffic to send; bench launches each, waits until it truly
serves, drives it, stops it, proves that it is gone, and goes on with the next.

Everything lands in a results folder, from which the report can be made again.`

const exitCodes = `
Exit codes:
  0    done
  1    could not do it (I/O, folder not found, internal error)
  2    the command line or the scenario is wrong; nothing was started
  3    the run ended, but steps failed or were not run
  4    a condition of compare --fail-if holds; reproduce: a figure differs
  130  interrupted; what was measured is in the results folder`

func newRootCommand(e env) *cobra.Command {
	root := &cobra.Command{
		Use: "bench", Short: "Benchmark LLM inference servers by scenario", Long: rootLong,
		Example:      "  bench init llamacpp > my.yaml\n  bench plan my.yaml\n  bench run my.yaml",
		SilenceUsage: true, SilenceErrors: true, Version: version,
	}
	root.SetOut(e.stdout)
	root.SetErr(e.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath()))
	})
	root.AddCommand(
		newRunCommand(e),
		newResumeCommand(e),
		newWatchCommand(e),
		newCancelCommand(e),
		newJobCommand(e),
		newSweepCommand(e),
		newLoadCommand(e),
		newLoadAgentCommand(e),
		newSuiteCommand(e),
		newDatasetCommand(e),
		newPlanCommand(e),
		newValidateCommand(e),
		newReportCommand(e),
		newCompareCommand(e),
		newImportCommand(e),
		newBundleCommand(e),
		newReproduceCommand(e),
		newInitCommand(e),
		newSchemaCommand(e),
		newSimulateCommand(e),
		newSimulateLlamaBenchCommand(e),
		newTinyModelCommand(e),
		newCalibrateCommand(e),
		newGPUCommand(e),
		newDoctorCommand(e),
		newCleanCommand(e),
		newVersionCommand(e),
	)
	root.Long += "\n" + exitCodes
	for _, cmd := range root.Commands() {
		cmd.Long += "\n" + exitCodes
	}
	return root
}

// args wraps a check of positional arguments so that its error counts as one
// of usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if err := check(cmd, given); err != nil {
			return usageError(fmt.Errorf("%w (usage: %s)", err, cmd.UseLine()))
		}
		return nil
	}
}
