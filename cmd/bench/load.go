package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

const loadLong = `Drive a server that is already there, without a scenario: the load client
alone, with the flags of 'vllm bench serve'. It prints the result block that
vLLM's client prints, then what one should know about the figures, and with
--save-result writes the JSON that scripts made for vLLM's client read.

The key for the server is taken from OPENAI_API_KEY. Flags that this client
cannot follow are refused. Ctrl-C ends the run; what was measured is shown.`

func newLoadCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "load [flags]", Short: "Drive a running server, with the flags of vllm bench serve", Long: loadLong,
		Example: "  bench load --model llama --random-input-len 512 --random-output-len 64 --max-concurrency 16\n" +
			"  bench load --backend openai-chat --base-url http://host:8000 --dataset-name sharegpt \\\n" +
			"    --dataset-path ShareGPT_V3_unfiltered_cleaned_split.json --num-prompts 500 --request-rate 4 --save-result",
		DisableFlagParsing: true, // argparse's ways are not pflag's: see vllmcli
		RunE: func(cmd *cobra.Command, given []string) error {
			var f vllmcli.Flags
			fs := pflag.NewFlagSet("load", pflag.ContinueOnError)
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
	_, err := fmt.Fprintf(e.stdout, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nFlags:\n%s", cmd.Long, cmd.UseLine(), cmd.Example, fs.FlagUsages())
	return err
}

func runLoad(ctx context.Context, e env, f *vllmcli.Flags) error {
	for _, note := range f.Notes {
		fmt.Fprintf(e.Stderr, "note: %s\n", note)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	job, result, err := prepareLoad(ctx, e, f)
	defer session.CloseClient(job.Driver)
	if err == nil {
		err = readyCheck(ctx, e, f, job)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return codeError{exitInterrupted, err}
	case err != nil:
		return err
	}
	show := newLoadProgress(e, f.NoProgress)
	job.Options.Progress = show.update
	records := step.Drive(ctx, job, result)
	show.end()
	if result.Figures == nil {
		return result.Failure
	}
	if err := printLoad(e, f, result); err != nil {
		return err
	}
	tellAgents(e, result)
	if err := saveLoad(e, f, result, records); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return codeError{code: exitInterrupted}
	case result.Figures.Failed > 0 || result.Failure != nil:
		if result.Failure != nil {
			fmt.Fprintf(e.Stderr, "failed: %v\n", result.Failure)
		}
		if refused := result.Figures.Failures[results.FailAuth]; refused > 0 {
			fmt.Fprintf(e.Stderr, "401 or 403 for %d requests: their key is taken from %s\n", refused, requestKey(f))
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

// readyCheck asks for the first prompt's answer until it comes.
func readyCheck(ctx context.Context, e env, f *vllmcli.Flags, job step.Job) error {
	return untilReady(ctx, e, f, func(ctx context.Context) error {
		if failure := oneAnswer(ctx, job); failure != nil {
			return tellKey(failure, requestKey(f))
		}
		return nil
	})
}

// untilReady tries something until it works or the time for that is over.
// Without such a time it does not try at all.
func untilReady(ctx context.Context, e env, f *vllmcli.Flags, try func(context.Context) error) error {
	if f.ReadyTimeoutS <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(f.ReadyTimeoutS*float64(time.Second)))
	defer cancel()
	const pause = time.Second
	for tries := 1; ; tries++ {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if tries == 1 {
			fmt.Fprintf(e.Stderr, "waiting for the server: %v\n", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server was not ready within %g s: %w", f.ReadyTimeoutS, err)
		case <-time.After(pause):
		}
	}
}

// oneAnswer sends the first prompt, unmeasured, and says what went wrong.
func oneAnswer(ctx context.Context, job step.Job) *results.Failure {
	opts := job.Options
	opts.Arrivals, opts.Duration, opts.Repeat = nil, 0, false
	var failure *results.Failure
	_, err := job.Driver.Run(ctx, opts, job.Prompts[:1], func(r results.Record) error {
		failure = r.Failure
		return nil
	})
	if err != nil {
		return results.Failf(results.FailInternal, "%v", err)
	}
	return failure
}

// judging sets what the figures are judged by.
func judging(f *vllmcli.Flags, job *step.Job) error {
	var err error
	if job.Goodput, err = f.Goals(); err != nil {
		return err
	}
	if _, err = f.ShownMetrics(); err != nil {
		return err
	}
	if _, err = f.MetadataPairs(); err != nil {
		return err
	}
	job.Percentiles, err = f.ShownPercentiles()
	return err
}

// warmups are copies of the first prompt, as vLLM's client sends them.
func warmups(n int, prompts []load.Prompt) []load.Prompt {
	var out []load.Prompt
	for range n {
		out = append(out, prompts[0])
	}
	return out
}
