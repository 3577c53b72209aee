package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/queue"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/scenarios"
)

const queueLong = `Run several scenarios one after the other, for example overnight. The queue is
kept on this machine: 'bench queue run' resumes a run that was killed or stopped.`

const queueRunLong = `Run the queued scenarios, the oldest first, until none is left, including those
that are added meanwhile. Each runs like 'bench run --wait-for-box', with the
environment of this command.

If a scenario fails, the next one runs. If a server cannot be stopped, the disk is
full or the machine cannot be locked, the queue stops: nothing could be measured
after that.

The exit code is 0 if each scenario had exit code 0, and 3 otherwise.`

func newQueueCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "Run several scenarios one after the other", Long: queueLong,
		Example: "  bench queue add tp.yaml\n  bench queue add tp.yaml --set repeats=5\n" +
			"  bench queue list\n  bench queue run --until 07:30",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newQueueAddCommand(e), newQueueListCommand(e), newQueueRunCommand(e), newQueueRemoveCommand(e))
	return cmd
}

func newQueueAddCommand(e env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "add SCENARIO...", Short: "Check scenarios and add them to the queue",
		Args: args(cobra.MinimumNArgs(1)), ValidArgsFunction: scenarioFiles,
		RunE: func(cmd *cobra.Command, given []string) error {
			for _, path := range given {
				if err := addToQueue(cmd.Context(), e, o, path); err != nil {
					return err
				}
			}
			return nil
		},
	}
	o.scenarioOptions.addFlags(cmd)
	o.addOutFlags(cmd.Flags())
	return cmd
}

// addToQueue checks a scenario and queues it.
func addToQueue(ctx context.Context, e env, o runOptions, path string) error {
	o.withoutSecrets = true // they are those of the environment in which the queue is run
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}
	estimateS, err := session.CheckForQueue(ctx, e.Process, sc, o.allowMissing)
	if err != nil {
		return err
	}

	q, err := openQueue(e)
	if err != nil {
		return err
	}
	entry, err := q.Queue(sc, queue.Asked{Out: o.out, AllowMissing: o.allowMissing, EstimateS: estimateS}, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%d: %s, about %s by the plan\n", entry.ID, path, entry.Estimate())
	return nil
}

func openQueue(e env) (*queue.Queue, error) {
	machine, err := e.OpenState()
	if err != nil {
		return nil, err
	}
	return queue.Open(machine)
}

func newQueueListCommand(e env) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "list", Short: "List the queue", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return printQueue(e, time.Time{}, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printQueue lists what is to be run, and what ended since a moment.
func printQueue(e env, since time.Time, asJSON bool) error {
	q, err := openQueue(e)
	if err != nil {
		return err
	}
	entries, err := q.EntriesSince(since)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e, entries)
	}
	p := table.NewPrinter(e.tables())
	queue.Print(p, entries, q.Runner())
	return p.Flush(e.stdout)
}

func newQueueRemoveCommand(e env) *cobra.Command {
	ended := false
	cmd := &cobra.Command{
		Use: "remove ID...", Short: "Remove scenarios from the queue; results stay",
		Example: "  bench queue remove 3\n  bench queue remove --ended",
		RunE: func(_ *cobra.Command, given []string) error {
			if ended == (len(given) > 0) {
				return usageError(errors.New("name entries by their ids, or give --ended"))
			}
			var ids []int
			for _, word := range given {
				id, err := strconv.Atoi(word)
				if err != nil {
					return usageError(fmt.Errorf("%q is not the id of an entry; see 'bench queue list'", word))
				}
				ids = append(ids, id)
			}

			q, err := openQueue(e)
			if err != nil {
				return err
			}
			n := len(ids)
			if ended {
				n, err = q.RemoveEnded()
			} else {
				err = q.Remove(ids)
			}
			if err == nil {
				fmt.Fprintf(e.stdout, "removed %s\n", text.Count(n, "entry"))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&ended, "ended", false, "remove all scenarios that are done or failed")
	return cmd
}

func newQueueRunCommand(e env) *cobra.Command {
	var plain plainFlags
	until := ""
	cmd := &cobra.Command{
		Use: "run", Short: "Run the queued scenarios", Long: queueRunLong, Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runQueue(cmd.Context(), plain.of(e), until) },
	}
	plain.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&until, "until", "", "end at `TIME` (07:30, \"2026-11-29 07:30\"), as until: of a scenario "+
		"does; the rest stays queued")
	return cmd
}

func runQueue(ctx context.Context, e env, until string) error {
	q, err := openQueue(e)
	if err != nil {
		return err
	}
	r := queue.Runner{Queue: q, Log: e.Stderr}
	if until != "" {
		moment, err := scenarios.ParseMoment(until)
		if err != nil {
			return usageError(fmt.Errorf("--until: %w", err))
		}
		r.Until = moment.From(time.Now())
	}
	r.Do = func(ctx context.Context, entry queue.Entry, began func(dir string)) queue.Outcome {
		e := e
		e.screen.Begun = began
		if entry.Dir != "" {
			o := resumeOptions{lockWait: lockWait{true}, until: cmp.Or(entry.End(r.Until), noEnd)}
			return queueOutcome(e, runResume(ctx, e, o, entry.Dir))
		}
		o := runOptions{lockWait: lockWait{true}, out: entry.Out, allowMissing: entry.AllowMissing}
		o.set = entry.Overrides(r.Until)
		return queueOutcome(e, runRun(ctx, e, o, entry.Scenario))
	}

	sum, err := r.Run(ctx)
	fmt.Fprintf(e.Stderr, "queue: %d succeeded, %d failed, %d left\n", sum.OK, sum.Bad, sum.Left)
	switch {
	case err != nil:
		return err
	case sum.Stopped:
		return codeError{code: exitInterrupted}
	case sum.Bad > 0:
		return codeError{code: exitStepsFailed}
	}
	return nil
}

// queueOutcome says what the error of run or resume means to the queue.
func queueOutcome(e env, err error) queue.Outcome {
	if machine, broken := errors.AsType[*session.MachineError](err); broken {
		return queue.Outcome{Code: exitError, Err: err, Machine: machine}
	}
	code := finish(e, err)
	return queue.Outcome{
		Code: code, Err: err, Stopped: code == exitInterrupted, Ended: code == exitOK || code == exitStepsFailed,
	}
}
