package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/cluster"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

const resumeLong = `Continue a run that ended early: after Ctrl-C, SIGKILL, a reboot, a deadline, a
full disk. bench first stops servers that the run left. It keeps steps with a
verdict and runs the others in the planned order with the same prompts.

bench checks that it is the same experiment: scenario, command lines, programs,
model files, GPUs, drivers, kernel, bench, and each engine's version once it
runs. It prints differences, and continues only with --allow-changed; every later
step then lists them.

The results folder contains no secrets. bench reads those that the scenario takes
from the environment again; if the scenario contains secrets in clear text, give
it with --scenario.`

type resumeOptions struct {
	lockWait
	plainFlags
	scenarioOptions
	scenario, until           string
	allowChanged, retryFailed bool
	asJSON, detach            bool
}

func newResumeCommand(e env) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use: "resume DIR", Short: "Continue a run that ended early", Long: resumeLong,
		Example:           "  bench resume results/night/20260131-220000-ab12\n  bench resume DIR --retry-failed",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, given []string) error {
			return runResume(cmd.Context(), o.of(e), o, given[0])
		},
	}

	o.lockWait.addFlags(cmd.Flags())
	o.plainFlags.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.scenario, "scenario", "",
		"the run's scenario `FILE`, where that contains secrets in clear text")
	cmd.Flags().StringArrayVar(&o.set, "set", nil,
		"for a run on a cluster: slurm.`KEY=VALUE` of the jobs that are submitted now, such as slurm.time=8h; with "+
			"--scenario: the overrides of the run, where they contain secrets")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "for a run on a cluster: submit the jobs and return")
	cmd.Flags().BoolVar(&o.allowChanged, "allow-changed", false,
		"continue although the machine or an engine differs from the start of the run")
	cmd.Flags().StringVar(&o.until, "until", "", "end at `TIME` (07:30, \"2026-11-29 07:30\") instead of the "+
		"scenario's until; none: do not end by the clock")
	cmd.Flags().BoolVar(&o.retryFailed, "retry-failed", false, "also repeat failed steps")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the run as JSON in place of the report")
	return cmd
}

func runResume(ctx context.Context, e env, o resumeOptions, dir string) error {
	folder, err := openRun(e, dir)
	if err != nil {
		return usageError(err)
	}

	stored, err := session.ReadStored(folder)
	if err != nil {
		return err
	}
	if stored.Finished(o.retryFailed) {
		return nothingToDo(e, folder, stored.Run)
	}

	sc, err := o.scenarioOf(e, stored)
	if err != nil {
		return err
	}
	if err := o.setEnd(e, sc); err != nil {
		return err
	}
	if len(stored.Run.Manifest.Groups) > 0 {
		return o.onCluster(ctx, e, stored, folder.Dir(), sc)
	}
	if stored.Run.Manifest.Reproduces != nil {
		sc.ForgetDatasets()
	}

	s, err := openSession(ctx, e, sc)
	if err != nil {
		return err
	}
	defer s.Close()

	if err := s.RepeatOf(stored.Run); err != nil {
		return err
	}
	if err := s.Take(ctx, "bench resume "+dir, o.wait, dir); err != nil {
		return err
	}

	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway

	return o.resumeLocked(ctx, e, s, folder)
}

// noEnd is a run that does not end by the clock.
const noEnd = "none"

// setEnd gives the scenario the end that --until asks for. The end of a certain day that is
// over would let nothing run: it no longer counts.
func (o resumeOptions) setEnd(e env, sc *scenarios.Scenario) error {
	switch {
	case o.until == noEnd:
		sc.EndBy = scenarios.Moment{}
	case o.until != "":
		by, err := scenarios.ParseMoment(o.until)
		if err != nil {
			return usageError(fmt.Errorf("--until: %w", err))
		}
		sc.EndBy = by
	case !sc.EndBy.IsZero() && !sc.EndBy.From(time.Now()).After(time.Now()):
		fmt.Fprintf(e.Stderr, "note: the scenario's until, %s, has passed and is ignored; --until sets another\n",
			sc.EndBy)
		sc.EndBy = scenarios.Moment{}
	}
	return nil
}

// resumeLocked resumes the run of a folder that is locked.
func (o resumeOptions) resumeLocked(ctx context.Context, e env, s *session.Session, folder *store.Folder) error {
	stored, err := session.ReadStored(folder) // again: nobody else writes now
	if err != nil {
		return err
	}
	if stored.Finished(o.retryFailed) {
		return nothingToDo(e, folder, stored.Run)
	}
	resume, err := s.Resume(ctx, folder, stored, o.allowChanged, o.retryFailed)
	if err != nil {
		return err
	}
	return carryOut(ctx, e, s, folder, resume, o.asJSON)
}

// scenarioOf is the run's scenario, from its folder or from the file that
// --scenario names.
func (o resumeOptions) scenarioOf(e env, stored *session.Stored) (*scenarios.Scenario, error) {
	if o.scenario == "" {
		return o.storedScenario(e, stored)
	}
	given := scenarioOptions{set: o.set}
	if given.set == nil {
		given.set = stored.Run.Manifest.Sets
	}
	sc, err := given.load(e, o.scenario)
	if err != nil {
		return nil, err
	}
	return sc, stored.Matches(sc)
}

// storedScenario is the scenario from the run's folder, with what --set changes of
// the jobs.
func (o resumeOptions) storedScenario(e env, stored *session.Stored) (*scenarios.Scenario, error) {
	for _, set := range o.set {
		onCluster := len(stored.Run.Manifest.Groups) > 0
		if key, _, _ := strings.Cut(set, "="); !onCluster || !strings.HasPrefix(key, "slurm.") {
			return nil, usageError(fmt.Errorf("--set %s: a resumed run keeps its settings; "+
				"for a run on a cluster, slurm.KEY can be set for the jobs that are submitted now", set))
		}
	}
	if stored.NobodyToNotify() {
		fmt.Fprintln(e.Stderr, "note: the scenario has a webhook in clear text, which the folder does not keep: "+
			"nobody is notified there unless --scenario names the scenario's file")
	}
	return stored.Scenario(e.Lookup, o.set...)
}

func nothingToDo(e env, folder *store.Folder, run *results.Run) error {
	fmt.Fprintf(e.Stderr, "bench: nothing to do: all steps of %s have a verdict\n", folder.Dir())
	if err := printReport(e, folder.Dir(), reportOptions{}); err != nil {
		return err
	}
	kept := session.Outcome{Outcome: harness.NewResume(run, false).Kept()}
	return exitOf(kept.FailuresAsResults(run.Manifest.FailuresAreResults()))
}

// onCluster submits what is left of a run.
func (o resumeOptions) onCluster(ctx context.Context, e env, stored *session.Stored, dir string,
	sc *scenarios.Scenario,
) error {
	c, err := cluster.Open(e.Process, dir, stored.Run.Manifest, sc)
	if err != nil {
		return err
	}

	run, jobs, err := c.SubmitLeft(ctx, o.retryFailed)
	switch {
	case err != nil:
		return err
	case jobs == 0:
		return nothingToDo(e, c.Folder, run)
	case o.detach:
		fmt.Fprintf(e.Stderr, "%s queued or running; to follow: bench watch %s\n", text.Count(jobs, "job"),
			c.Folder.Dir())
		return nil
	}

	return followCluster(ctx, e, c)
}
