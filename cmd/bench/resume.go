package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

const resumeLong = `Go on with a run that was ended before its plan: by Ctrl-C, SIGKILL, a reboot,
a deadline, a full disk. What the run has left running is ended first. Steps
that have a verdict stay; those that were interrupted or not run are run, in
the order of the plan, with the same prompts.

It is checked that it is the same experiment: scenario, commands, programs and
model files, GPUs, drivers, kernel, bench, and the version of each engine once
it runs. What differs is printed, and the run goes on only with
--allow-changed; every later step then carries what differs.

The folder has no secrets. Those that the scenario takes from the environment
are taken from there again; a scenario that has them in the clear must be given
again with --scenario.`

type resumeOptions struct {
	boxWait
	plainFlags
	scenarioOptions
	scenario                  string
	allowChanged, retryFailed bool
}

func newResumeCommand(e env) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use: "resume DIR", Short: "Go on with a run that was ended early", Long: resumeLong,
		Example: "  bench resume results/night/20260131-220000-ab12\n  bench resume DIR --retry-failed",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, given []string) error { return runResume(cmd.Context(), o.of(e), o, given[0]) },
	}
	o.boxWait.addFlags(cmd.Flags())
	o.plainFlags.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.scenario, "scenario", "", "the run's scenario `FILE`, where it has secrets in the clear")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "with --scenario: the overrides of the run, where they have secrets")
	cmd.Flags().BoolVar(&o.allowChanged, "allow-changed", false, "go on although the box or an engine is not what the run began with")
	cmd.Flags().BoolVar(&o.retryFailed, "retry-failed", false, "also run failed steps again")
	return cmd
}

func runResume(ctx context.Context, e env, o resumeOptions, dir string) error {
	folder, err := results.Open(dir)
	if err != nil {
		return usageError(err)
	}
	stored, err := readStored(folder)
	if err != nil {
		return err
	}
	if stored.finished(o) {
		return nothingToDo(e, folder, stored.run)
	}
	if len(stored.run.Manifest.Groups) > 0 {
		return resumeOnCluster(ctx, e, o, stored, folder)
	}
	sc, err := stored.scenario(e, o)
	if err != nil {
		return err
	}
	if stored.run.Manifest.Reproduces != nil {
		sc.ForgetDatasets()
	}
	s, err := newSession(ctx, e, sc)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.repeatOf(stored.run); err != nil {
		return usageError(err)
	}
	if err := s.takeBox(ctx, "bench resume "+dir, o.wait, dir); err != nil {
		return err
	}
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway
	return s.goOn(ctx, o, folder)
}

// goOn resumes the run of a folder that is locked.
func (s *session) goOn(ctx context.Context, o resumeOptions, folder *results.Folder) error {
	stored, err := readStored(folder) // again: nobody else writes now
	if err != nil {
		return err
	}
	if stored.finished(o) {
		return nothingToDo(s.e, folder, stored.run)
	}
	changes, err := stored.compare(s, s.identity(gpu.Host(ctx)))
	if err != nil {
		return usageError(fmt.Errorf("not the experiment that the run began with: %w", err))
	}
	for _, change := range changes {
		fmt.Fprintf(s.e.Stderr, "changed: %s\n", change)
	}
	if len(changes) > 0 && !o.allowChanged {
		return usageError(errors.New("the box is not what the run began with; --allow-changed goes on and notes it on every later step"))
	}
	if err := s.closeLogs(folder); err != nil {
		return err
	}
	resume := harness.NewResume(stored.run, o.retryFailed)
	resume.Changes, resume.AllowChanged = changes, o.allowChanged
	fmt.Fprintf(s.e.Stderr, "resuming: %d of %d steps are left\n", resume.Left(s.plan), len(s.plan.Refs()))
	return s.carryOut(ctx, folder, resume)
}

// closeLogs does for the server lives of a killed run what it did not come to.
func (s *session) closeLogs(folder *results.Folder) error {
	lives, err := folder.Lives()
	for _, life := range lives {
		err = errors.Join(err, harness.CloseLogs(folder, life, s.sc.Disk.MaxLog, s.sc.Secrets))
	}
	return err
}

// stored is a run as its folder has it.
type stored struct {
	run      *results.Run
	identity *results.Identity // nil: from a bench that noted none
	source   []byte            // of the scenario, secrets hidden
}

func readStored(folder *results.Folder) (*stored, error) {
	run, err := results.Read(folder.Dir())
	if err != nil {
		return nil, err
	}
	s := &stored{run: run}
	if s.source, err = os.ReadFile(folder.Scenario()); err != nil {
		return nil, fmt.Errorf("read the run's scenario: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(folder.Dir(), results.IdentityName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", results.IdentityName, err)
	}
	s.identity = &results.Identity{}
	if err := json.Unmarshal(text, s.identity); err != nil {
		return nil, fmt.Errorf("read %s: %w", results.IdentityName, err)
	}
	return s, nil
}

// finished reports whether no step is left to be run.
func (s *stored) finished(o resumeOptions) bool {
	return s.run.Finished && harness.NewResume(s.run, o.retryFailed).Done(s.run)
}

func nothingToDo(e env, folder *results.Folder, run *results.Run) error {
	fmt.Fprintf(e.Stderr, "bench: nothing to do: all steps of %s have a verdict\n", folder.Dir())
	if err := printReport(e, folder.Dir(), reportOptions{}); err != nil {
		return err
	}
	return ended{Outcome: harness.NewResume(run, false).Kept()}.exit()
}

// scenario reads the run's scenario back, from the folder or from the file
// that it was made of.
func (s *stored) scenario(e env, o resumeOptions) (*scenarios.Scenario, error) {
	for _, problem := range s.run.Problems {
		if strings.HasPrefix(problem, results.ScenarioName) || strings.HasPrefix(problem, results.PlanName) {
			return nil, usageError(fmt.Errorf("not the experiment that the run began with: %s", problem))
		}
	}
	if o.scenario != "" {
		return s.givenAgain(e, o)
	}
	if s.identity == nil || s.identity.SecretsInFile {
		return nil, usageError(errors.New("the run's scenario had secrets in the clear, which its folder does not keep: give it again with --scenario FILE"))
	}
	sc, err := scenarios.Parse(s.identity.ScenarioPath, s.source, scenarios.Options{
		Set: s.run.Manifest.Sets, LookupEnv: e.Lookup, Profile: profiles.Lookup, Profiles: profiles.Names(),
	})
	if err != nil {
		return nil, usageError(err)
	}
	return sc, nil
}

// givenAgain reads a file that must be the run's scenario but for secrets.
func (s *stored) givenAgain(e env, o resumeOptions) (*scenarios.Scenario, error) {
	given := scenarioOptions{set: o.set}
	if given.set == nil {
		given.set = s.run.Manifest.Sets
	}
	sc, err := given.load(e, o.scenario)
	if err != nil {
		return nil, err
	}
	hide := recipe.Redactor(sc.Secrets)
	if hide(string(sc.Source)) != string(s.source) || !slices.Equal(hideAll(hide, sc.Sets), s.run.Manifest.Sets) {
		return nil, usageError(fmt.Errorf("%s, with its overrides, is not the scenario of this run, secrets aside", o.scenario))
	}
	return sc, nil
}

// compare says what is not as it was when the run began. The error says that
// it is another experiment.
func (s *stored) compare(now *session, identity results.Identity) ([]string, error) {
	changes, err := plan.PlanChanges(s.run.Plan, now.plan)
	if err != nil {
		return nil, err
	}
	if s.identity == nil {
		return append(changes, "the folder does not say on what the run began"), nil
	}
	more, notes := plan.IdentityChanges(*s.identity, identity)
	for _, note := range notes {
		fmt.Fprintf(now.e.Stderr, "note: %s\n", note)
	}
	return append(changes, more...), nil
}
