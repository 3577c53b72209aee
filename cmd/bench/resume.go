package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

const resumeLong = `Continue a run that ended before its plan did: by Ctrl-C, SIGKILL, a reboot, a
deadline, a full disk. Servers that the run left are removed first. Steps with a
verdict are kept; the others are run in the order of the plan, with the same
prompts.

bench checks that it is the same experiment: scenario, command lines, programs,
model files, GPUs, drivers, kernel, bench, and each engine's version once it
runs. Differences are printed, and the run continues only with --allow-changed;
every later step then lists them.

The folder holds no secrets. Those that the scenario takes from the environment
are read again; for one that contains secrets in clear text, give --scenario.`

type resumeOptions struct {
	lockWait
	plainFlags
	scenarioOptions
	scenario                  string
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
			return runResume(cmd.Context(), o.of(e), o,
				given[0])
		},
	}

	o.lockWait.addFlags(cmd.Flags())
	o.plainFlags.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.scenario, "scenario", "",
		"the run's scenario `FILE`, where that contains secrets in clear text")
	cmd.Flags().StringArrayVar(&o.set, "set", nil,
		"of a run on a cluster: slurm.`KEY=VALUE` for the jobs that are submitted now, such as slurm.time=8h; with "+
			"--scenario: the overrides of the run, where they contain secrets")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "of a run on a cluster: submit the jobs and return")
	cmd.Flags().BoolVar(&o.allowChanged, "allow-changed", false,
		"continue although the machine or an engine differs from the start of the run")
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
	if len(stored.Run.Manifest.Groups) > 0 {
		return resumeOnCluster(ctx, e, o, stored, folder, sc)
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

	return o.goOn(ctx, e, s, folder)
}

// goOn resumes the run of a folder that is locked.
func (o resumeOptions) goOn(ctx context.Context, e env, s *session.Session, folder *store.Folder) error {
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
			return nil, usageError(fmt.Errorf("--set %s: a resumed run is the experiment that it was; "+
				"of a run on a cluster, slurm.KEY can be set for the jobs that are submitted now", set))
		}
	}
	if stored.NobodyToNotify() {
		fmt.Fprintln(e.Stderr, "note: a webhook of the scenario was written in the clear, "+
			"which the folder does not keep: "+
			"nobody is notified there; --scenario FILE gives it again")
	}
	return stored.Scenario(e.Lookup, o.set...)
}

func nothingToDo(e env, folder *store.Folder, run *results.Run) error {
	fmt.Fprintf(e.Stderr, "bench: nothing to do: all steps of %s have a verdict\n", folder.Dir())
	if err := printReport(e, folder.Dir(), reportOptions{}); err != nil {
		return err
	}
	kept := session.Outcome{Outcome: harness.NewResume(run, false).Kept()}
	return exitOf(kept.FailuresAsResults(run.Manifest.Tune != nil))
}
