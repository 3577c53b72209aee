package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const rootLong = `bench compares LLM inference servers and tells whether the difference is real. A
scenario file names the servers and the load. bench starts each server, waits
until it streams a token, measures it, stops it, checks that it is gone, and
starts the next. Results and reports go to a folder.

To measure a server that is already running, use 'bench load'.
'bench explain' explains warnings and failures, 'bench help exit-codes' exit codes.`

const exitCodes = `bench ends with one of these exit codes:

  0    success
  1    bench failed: an input or output error, a missing folder, an internal error
  2    the command line or the scenario is wrong; nothing was started
  3    the run ended, but steps failed or were not run; doctor and clean
       --dry-run: something was found
  4    compare: a condition of --fail-if holds; reproduce: a figure differs
  130  interrupted; what was measured is in the results folder
  134  bench itself crashed (SIGABRT): no memory or threads left, or a bug`

func newRootCommand(e env) *cobra.Command {
	root := &cobra.Command{
		Use: "bench", Short: "Benchmark LLM inference servers by scenario", Long: rootLong,
		Example: "  bench init llamacpp > my.yaml\n  bench validate my.yaml\n  bench run my.yaml\n" +
			"  bench report results",
		SilenceUsage: true, SilenceErrors: true, Version: version,
	}

	root.SetOut(e.stdout)
	root.SetErr(e.Stderr)
	root.SetFlagErrorFunc(flagError)

	addGroup(root, "Prepare a run:", newInitCommand(e), newValidateCommand(e), newPlanCommand(e), newDoctorCommand(e),
		newGPUCommand(e), newCalibrateCommand(e), newDatasetCommand(e), newRecordCommand(e))
	addGroup(root, "Run a scenario:", newRunCommand(e), newResumeCommand(e), newQueueCommand(e), newWatchCommand(e),
		newCancelCommand(e), newCleanCommand(e), newBlameCommand(e), newBisectCommand(e))
	addGroup(root, "Measure a running server:", newLoadCommand(e), newSuiteCommand(e))
	addGroup(root, "Read results:", newReportCommand(e), newMorningCommand(e), newExplainCommand(e),
		newCompareCommand(e), newHistoryCommand(e))
	addGroup(root, "Exchange results:", newImportCommand(e), newExportCommand(e), newBundleCommand(e),
		newReproduceCommand(e))
	root.AddCommand(newSchemaCommand(e), newSimulateCommand(e), newTinyModelCommand(e), newLoadAgentCommand(e),
		newVersionCommand(e), newJobCommand(e), newSweepCommand(e), newSimulateProgramCommand(e), newManCommand(),
		&cobra.Command{Use: "exit-codes", Short: "The exit codes of all commands", Long: exitCodes})

	return root
}

// addGroup adds commands that the help of root lists below a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
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
