package main

import (
	"context"
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

const cleanLong = `Remove what killed runs left behind (processes, containers, files in /dev/shm)
and undo what their hooks changed. 'bench run' does this before it begins.

bench stops a process only if the run recorded its pid and start time, its session
or its control group, or if its environment has the run's cookie. It lists other
candidates and leaves them alone, such as processes of other users.

Without a folder, all runs recorded on this machine are cleaned. During a run only
--dry-run works.

The exit code is 0 if nothing is left, and 1 if something is left or a run is in
progress; with --dry-run it is 3 if there is something to remove.`

type cleanOptions struct{ dryRun, asJSON bool }

func newCleanCommand(e env) *cobra.Command {
	var o cleanOptions
	cmd := &cobra.Command{
		Use: "clean [RUN-DIR...]", Short: "Remove what killed runs left on this machine", Long: cleanLong,
		Example: "  bench clean --dry-run\n  bench clean\n  bench clean results/quickstart/20260131-220000-ab12",
		RunE:    func(cmd *cobra.Command, dirs []string) error { return runClean(cmd.Context(), e, o, dirs) },
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "list what would be removed, remove nothing")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func runClean(ctx context.Context, e env, o cleanOptions, dirs []string) error {
	for _, dir := range dirs {
		if _, err := store.Open(dir); err != nil {
			return usageError(err)
		}
	}

	machine, err := e.OpenState()
	if err != nil {
		return err
	}

	lock, err := machine.Lock("bench clean")
	switch {
	case err == nil:
		defer func() { _ = lock.Release() }() // the kernel would do it anyway
	case !o.dryRun:
		return refusal(err)
	}

	c := &leftovers.Cleaner{State: machine, DryRun: o.dryRun, Hooks: &hooks.Runner{Environ: e.Environ}}
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
		c.State = job.State
		for _, target := range job.Runs {
			done = append(done, c.Clean(ctx, target.Dir))
		}
		_ = job.Lock.Release() // the kernel would do it anyway
	}

	return errors.Join(printDone(e, o, done), damaged, damagedJobs)
}

// refusal says why clean does not begin.
func refusal(err error) error {
	if busy, ok := errors.AsType[*state.BusyError](err); ok {
		return fmt.Errorf("another bench uses this machine (%s), and its servers are in use: stop it first, or list "+
			"leftovers with --dry-run", busy.Owner)
	}
	return err
}

// printDone prints what was done and gives the exit code.
func printDone(e env, o cleanOptions, done []leftovers.Run) error {
	if o.asJSON {
		if err := printJSON(e, map[string]any{"runs": done, "dry_run": o.dryRun}); err != nil {
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
		if run.Failed() || run.Unproven {
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
		fmt.Fprintln(e.stdout, "nothing to clean: no run is known to have left anything")
	}
	for _, run := range done {
		fmt.Fprintf(e.stdout, "%s\n%s", run.Dir, text.Indent(run.Lines()))
	}
}
