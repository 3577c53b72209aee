package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/direct"
	"github.com/benchrig/bench/harness/progress"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

const loadLong = `Send load to a server that is already running, without a scenario, with the flags
of 'vllm bench serve'. It prints the result block that vLLM's client prints,
followed by warnings about the figures. With --save-result it writes the JSON
file that scripts made for vLLM's client read.

The server's key is taken from OPENAI_API_KEY. Flags that this client cannot
honour are refused. Ctrl-C stops the run; what was measured is printed.`

func newLoadCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "load [flags]", Short: "Send load to a running server, with the flags of vllm bench serve", Long: loadLong,
		Example: "  bench load --model llama --random-input-len 512 --random-output-len 64 --max-concurrency 16\n" +
			"  bench load --backend openai-chat --base-url http://host:8000 --dataset-name sharegpt \\\n" +
			"    --dataset-path ShareGPT_V3_unfiltered_cleaned_split.json --num-prompts 500 --request-rate 4 " +
			"--save-result",
		ValidArgsFunction:  loadFlags,
		DisableFlagParsing: true, // argparse's ways are not pflag's: see vllmcli
		RunE: func(cmd *cobra.Command, given []string) error {
			var f vllmcli.Flags
			fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
			fs.Usage = func() {} // help prints it
			f.AddFlags(fs)
			switch err := f.Parse(fs, given); {
			case errors.Is(err, pflag.ErrHelp):
				return help(e, cmd, fs)
			case err != nil:
				return usageError(fmt.Errorf("%w (see 'bench load --help')", err))
			}
			return runLoad(cmd.Context(), e, &f)
		},
	}

	return cmd
}

// help prints a command whose flags cobra does not know.
func help(e env, cmd *cobra.Command, fs *pflag.FlagSet) error {
	_, err := fmt.Fprintf(e.stdout, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nFlags:\n%s", cmd.Long, cmd.UseLine(),
		cmd.Example, fs.FlagUsages())
	return err
}

func runLoad(ctx context.Context, e env, f *vllmcli.Flags) error {
	for _, note := range f.Notes {
		fmt.Fprintf(e.Stderr, "note: %s\n", note)
	}

	ctx, stop := interruptible(ctx)
	defer stop()

	job, result, err := direct.Prepare(ctx, e.Process, f)
	defer session.CloseClient(job.Driver)

	if err == nil {
		err = direct.WaitReady(ctx, e.Process, f, job)
	}

	switch {
	case err != nil && ctx.Err() != nil:
		return codeError{exitInterrupted, err}
	case err != nil:
		return err
	}

	show := progress.OfLoad(e.Stderr, e.screen.Rewriting, f.NoProgress)
	job.Options.Progress = show.Update
	records := step.DriveOneShot(ctx, job, result)
	show.End()
	if result.Figures == nil {
		return result.Failure
	}
	if err := direct.Show(e.stdout, f, result, e.tables()); err != nil {
		return err
	}

	direct.ShowAgents(e.Stderr, result)
	path, err := direct.Save(f, result, records)
	if err != nil {
		return err
	}
	if path != "" {
		fmt.Fprintf(e.Stderr, "result: %s\n", path)
	}

	switch {
	case ctx.Err() != nil:
		return codeError{code: exitInterrupted}
	case result.Figures.Failed > 0 || result.Failure != nil:
		if result.Failure != nil && e.width == 0 { // on a terminal it stands below the block
			fmt.Fprintf(e.Stderr, "failed: %v\n", result.Failure)
		}
		if refused := result.Figures.Failures[results.FailAuth]; refused > 0 {
			fmt.Fprintf(e.Stderr, "401 or 403 for %s: the key is taken from %s\n", text.Count(refused, "request"),
				direct.RequestKey(f))
		}
		return codeError{code: exitStepsFailed}
	}

	return nil
}

// interruptible is a context that the first SIGINT or SIGTERM ends, with the
// reason.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signaled, stop := signal.NotifyContext(context.WithoutCancel(ctx), unix.SIGINT, unix.SIGTERM)
	unhook := context.AfterFunc(signaled, func() {
		cancel(results.Failf(results.FailInterrupted, "stopped by a signal"))
		stop() // the next one ends the program
	})
	return ctx, func() { unhook(); stop(); cancel(nil) }
}
