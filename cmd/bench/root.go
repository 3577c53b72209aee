package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const rootLong = `bench measures LLM inference servers. A scenario file names the servers to
compare and the load to send. bench starts each server, waits until it answers
with a token, measures it, stops it, proves that it is gone, and starts the next.

Everything is written to a results folder. The report is made from that folder
alone, then or years later.

Begin with 'bench init', 'bench validate' and 'bench plan'. Exit codes are
listed by 'bench help exit-codes', warning and failure codes by 'bench explain'.`

const exitCodes = `bench ends with one of these exit codes:

  0    done
  1    failed: an input or output error, a missing folder, an internal error
  2    the command line or the scenario is wrong; nothing was started
  3    the run ended, but steps failed or were not run; doctor and clean
       --dry-run: something was found
  4    compare: a condition of --fail-if holds; reproduce: a figure differs
  130  interrupted; what was measured is in the results folder
  134  bench itself crashed (SIGABRT): no memory or threads left, or a bug`

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
		newQueueCommand(e),
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
		newMorningCommand(e),
		newCompareCommand(e),
		newHistoryCommand(e),
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
		newExplainCommand(e),
		newManCommand(),
		newVersionCommand(e),
		&cobra.Command{Use: "exit-codes", Short: "The exit codes of all commands", Long: exitCodes},
	)

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
