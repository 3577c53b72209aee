package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/hooks"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/results"
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
		if _, err := results.Open(dir); err != nil {
			return usageError(err)
		}
	}
	box, err := openBox(e)
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
	c := &cleaning{box: box, dryRun: o.dryRun, hooks: &hooks.Runner{Environ: e.environ}}
	runs, damaged := c.targets(dirs)
	root, err := jobStateRoot(e)
	if err != nil {
		return err
	}
	jobs, damagedJobs := endedJobs(root)
	if len(runs) > 0 || slices.ContainsFunc(jobs, func(job endedJob) bool { return len(job.runs) > 0 }) {
		with, free := cleanerOf(ctx, e)
		defer free()
		c.with = with
	}
	done := []cleanedRun{}
	for _, target := range runs {
		done = append(done, c.run(ctx, target))
	}
	for _, job := range jobs {
		c.box = job.box
		for _, target := range job.runs {
			done = append(done, c.run(ctx, target))
		}
		_ = job.lock.Release() // the kernel would do it anyway
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

// cleanerOf makes what ends leftovers on this box. Without GPUs, or where they
// cannot be read, memory is not looked at.
func cleanerOf(ctx context.Context, e env) (with launchers.Cleaner, free func()) {
	with = launchers.Cleaner{Environ: e.environ}
	inventory, err := gpu.Detect(ctx, gpuOptions(e))
	if err != nil || len(inventory.GPUs) == 0 {
		return with, func() {}
	}
	watcher := gpu.NewWatcher(gpuOptions(e), inventory)
	with.GPUs, with.GPUBytes, with.Vendor = watcher, gpuBytes(inventory), inventory.Vendor()
	return with, func() { _ = watcher.Close() } // it has told what there was to tell
}

// gpuBytes is the whole memory of the devices by id.
func gpuBytes(inventory gpu.Inventory) map[string]int64 {
	sizes := map[string]int64{}
	for _, d := range inventory.GPUs {
		switch {
		case d.VRAMBytes != nil:
			sizes[d.ID()] = *d.VRAMBytes
		case d.GTTBytes != nil:
			sizes[d.ID()] = *d.GTTBytes
		}
	}
	return sizes
}

// tell prints what was done and gives the exit code.
func tell(e env, o cleanOptions, done []cleanedRun) error {
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
		if o.dryRun && run.found() {
			code = exitStepsFailed
		}
	}
	for _, run := range done {
		if run.failed() {
			code = exitError
		}
	}
	if code == exitOK {
		return nil
	}
	return codeError{code: code}
}

func printCleaned(e env, done []cleanedRun) {
	if len(done) == 0 {
		fmt.Fprintln(e.stdout, "nothing to clean: no run is noted that may have left something")
	}
	for _, run := range done {
		fmt.Fprintf(e.stdout, "%s\n%s", run.Dir, indented(run.lines()))
	}
}

// lines tell of a run for people.
func (out cleanedRun) lines() []string {
	var lines []string
	if out.Skipped != "" {
		lines = append(lines, "left alone: "+out.Skipped)
	}
	for _, l := range out.Lives {
		lines = append(lines, l.lines()...)
	}
	for _, u := range out.Undos {
		line := fmt.Sprintf("hook %s: %s", u.Hook, strings.Join(u.Argv, " "))
		if u.Message != "" {
			line += ": " + u.Message
		}
		lines = append(lines, line)
	}
	if out.Error != "" {
		lines = append(lines, "error: "+out.Error)
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing is left")
	}
	return lines
}

func (l cleanedLife) lines() []string {
	name := "processes of the run"
	if l.Life != "" {
		name = fmt.Sprintf("server %s replica %d", l.Life, l.Replica)
	}
	what := "nothing is left"
	var parts []string
	if len(l.Processes) > 0 {
		parts = append(parts, fmt.Sprintf("pids %s", strings.Trim(fmt.Sprint(l.Processes), "[]")))
	}
	if len(l.Containers) > 0 {
		parts = append(parts, "containers "+strings.Join(l.Containers, " "))
	}
	if len(parts) > 0 {
		what = strings.Join(parts, ", ") + l.fate()
	} else if l.Rebooted {
		what += ": the box was started anew since"
	}
	lines := []string{name + ": " + what}
	for _, s := range l.Strangers {
		lines = append(lines, fmt.Sprintf("  left alone: pid %d: %s", s.PID, s.Why))
	}
	if l.Proof != nil && len(l.Proof.ShmRemoved) > 0 {
		lines = append(lines, fmt.Sprintf("  removed from /dev/shm: %s", strings.Join(l.Proof.ShmRemoved, " ")))
	}
	if l.Error != "" {
		lines = append(lines, "  error: "+l.Error)
	}
	return lines
}

func (l cleanedLife) fate() string {
	switch {
	case l.Proof == nil:
		return " still there"
	case !l.Proof.PIDsGone:
		return " not ended"
	}
	return fmt.Sprintf(" ended in %.1f s", l.Proof.StopS)
}
