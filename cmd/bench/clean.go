package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results/store"
)

const cleanLong = `End what runs have left behind that were killed: servers, their processes,
their containers, their files in /dev/shm; and put back what their hooks
changed. Nothing else is touched: a process is ended only if its pid and start
time, its session or its control group are those that the run noted, or if it
carries the run's cookie in its environment. Pids that were given out again,
processes of other users and whatever cannot be looked into are left alone and
listed.

Without a folder all runs are done that this box remembers; 'bench run' does
that, too, before it begins. While a run is going on, only --dry-run works.

Exit code 0 says that nothing is left; 1 that something is, or that a run is
going on; with --dry-run, 3 that there is something to end.`

type cleanOptions struct{ dryRun, asJSON bool }

func newCleanCommand(e env) *cobra.Command {
	var o cleanOptions
	cmd := &cobra.Command{
		Use: "clean [RUN-DIR...]", Short: "End what killed runs have left on this box", Long: cleanLong,
		Example: "  bench clean --dry-run\n  bench clean\n  bench clean results/quickstart/20260131-220000-ab12",
		RunE:    func(cmd *cobra.Command, dirs []string) error { return runClean(cmd.Context(), e, o, dirs) },
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "list only")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func runClean(ctx context.Context, e env, o cleanOptions, dirs []string) error {
	for _, dir := range dirs {
		if _, err := store.Open(dir); err != nil {
			return usageError(err)
		}
	}
	box, err := e.OpenState()
	if err != nil {
		return err
	}
	lock, err := box.Lock("bench clean")
	switch {
	case err == nil:
		defer func() { _ = lock.Release() }() // the kernel would do it anyway
	case !o.dryRun:
		return refusal(err)
	}
	c := &leftovers.Cleaner{Box: box, DryRun: o.dryRun, Hooks: &hooks.Runner{Environ: e.Environ}}
	runs, damaged := c.Targets(dirs)
	root, err := e.JobStateRoot()
	if err != nil {
		return err
	}
	jobs, damagedJobs := leftovers.EndedJobs(root)
	if len(runs) > 0 || slices.ContainsFunc(jobs, func(job leftovers.EndedJob) bool { return len(job.Runs) > 0 }) {
		with, free := e.OpenCleaner(ctx, nil)
		defer free()
		c.With = with
	}
	done := []leftovers.Run{}
	for _, target := range runs {
		done = append(done, c.Clean(ctx, target))
	}
	for _, job := range jobs {
		c.Box = job.Box
		for _, target := range job.Runs {
			done = append(done, c.Clean(ctx, target))
		}
		_ = job.Lock.Release() // the kernel would do it anyway
	}
	return errors.Join(tell(e, o, done), damaged, damagedJobs)
}

// refusal says why clean does not begin.
func refusal(err error) error {
	if busy, ok := errors.AsType[*state.BusyError](err); ok {
		return fmt.Errorf("a bench works on this box (%s): what it started is no leftover; end it first, or list with --dry-run", busy.Owner)
	}
	return err
}

// tell prints what was done and gives the exit code.
func tell(e env, o cleanOptions, done []leftovers.Run) error {
	if o.asJSON {
		encoder := json.NewEncoder(e.stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"runs": done, "dry_run": o.dryRun}); err != nil {
			return err
		}
	} else {
		printCleaned(e, done)
	}
	code := exitOK
	for _, run := range done {
		if o.dryRun && run.Found() {
			code = exitStepsFailed
		}
	}
	for _, run := range done {
		if run.Failed() {
			code = exitError
		}
	}
	if code == exitOK {
		return nil
	}
	return codeError{code: code}
}

func printCleaned(e env, done []leftovers.Run) {
	if len(done) == 0 {
		fmt.Fprintln(e.stdout, "nothing to clean: no run is noted that may have left something")
	}
	for _, run := range done {
		fmt.Fprintf(e.stdout, "%s\n%s", run.Dir, text.Indent(run.Lines()))
	}
}
