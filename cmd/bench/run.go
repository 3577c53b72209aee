package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/calibrate"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

const runLong = `Run a scenario: launch each variant, wait until it has answered with a token,
drive it with the scenario's load, stop it, prove that it is gone, go on.

On a terminal the run is shown while it goes on: ? tells the keys. Elsewhere, or
with --plain, progress goes to stderr in lines. The report, the same that 'bench
report' prints later, goes to stdout. Ctrl-C once stops cleanly and keeps what
was measured; twice hurries. A closed terminal does not end the run.`

type runOptions struct {
	scenarioOptions
	boxWait
	plainFlags
	out    string
	detach bool
}

func newRunCommand(e env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a scenario", Long: runLong,
		Example: "  bench run scenarios/quickstart.yaml\n  bench run my.yaml --set load.num-prompts=16 --out /data/results\n  bench run my.yaml --on slurm",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, given []string) error { return runRun(cmd.Context(), o.of(e), o, given[0]) },
	}
	o.scenarioOptions.addFlags(cmd.Flags())
	o.boxWait.addFlags(cmd.Flags())
	o.plainFlags.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.out, "out", "results", "folder that gets SCENARIO/RUN-ID/")
	cmd.Flags().BoolVar(&o.detach, "detach", false, "with --on slurm: submit and return")
	return cmd
}

func runRun(ctx context.Context, e env, o runOptions, path string) error {
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}
	if sc.On == scenarios.OnSlurm {
		return runOnCluster(ctx, e, o, sc)
	}
	s, err := newSession(ctx, e, sc)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.takeBox(ctx, "bench run "+path, o.wait); err != nil {
		return err
	}
	folder, err := prepare(ctx, o.out, s, nil)
	if err != nil {
		return err
	}
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway
	return s.carryOut(ctx, folder, nil)
}

// warnOf tells what may keep steps from running, and what may not be meant.
func warnOf(e env, sc *scenarios.Scenario) {
	for _, warning := range slices.Concat(sc.Warnings, plan.RecipeWarnings(sc)) {
		fmt.Fprintf(e.Stderr, "warning: %s\n", warning)
	}
	printSimNotes(e.Stderr, sc)
	for _, problem := range sc.Problems() {
		fmt.Fprintf(e.Stderr, "warning: %s\n", problem)
	}
}

// ended is how a run came out.
type ended struct {
	harness.Outcome
	interrupted bool
}

func (o ended) exit() error {
	switch {
	case o.interrupted:
		return codeError{code: exitInterrupted}
	case o.Failed+o.NotRun > 0:
		return codeError{code: exitStepsFailed}
	}
	return nil
}

// prepare makes the results folder with all that is known before the start.
// The manifest comes last: a folder without it is no run. groups are what each
// job of a cluster will carry out; nil: this process carries out all.
func prepare(ctx context.Context, out string, s *session, groups []results.Group) (*results.Folder, error) {
	folder, err := results.Create(out, s.sc.Name, newRunID())
	if err != nil {
		return nil, err
	}
	hide := recipe.Redactor(s.sc.Secrets)
	source := hide(string(s.sc.Source))
	manifest := newManifest(s.sc, s.plan, hide)
	manifest.Run, manifest.Groups, manifest.Reproduces = filepath.Base(folder.Dir()), groups, s.origin
	host := gpu.Host(ctx)
	identity := s.identity(host)
	identity.SecretsInFile = secretsInClear(s.sc)
	err = errors.Join(
		folder.WriteFile(results.ScenarioName, []byte(source)),
		folder.WriteJSON(results.PlanName, s.plan),
		folder.WriteJSON(results.IdentityName, identity),
	)
	if groups == nil {
		err = errors.Join(err, folder.WriteJSON(results.EnvironmentName, s.environment(host)))
	}
	return folder, errors.Join(err, folder.WriteManifest(manifest))
}

// newManifest says what a run of the plan sets out to do.
func newManifest(sc *scenarios.Scenario, p *plan.Plan, hide func(string) string) results.Manifest {
	manifest := results.Manifest{
		Bench: version, Scenario: sc.Name, Description: sc.Description, StartedAt: time.Now().Format(time.RFC3339),
		Planned: p.Refs(), Simulated: simulated(sc), Sets: hideAll(hide, sc.Sets),
		Method: string(sc.Method), Baseline: sc.Baseline, Tables: sc.Tables, Sizes: sizes(sc), Notes: map[string]string{},
	}
	manifest.Search, manifest.Repeats, manifest.Prune = plan.SearchPolicy(sc), plan.RepeatsPolicy(sc), plan.PrunePolicy(sc)
	if sc.NullTest {
		manifest.NullTest = sc.Variants[len(sc.Variants)-1].Name
	}
	if sc.SmallestDifference > 0 {
		manifest.SmallestDifference = &sc.SmallestDifference
	}
	manifest.Price, manifest.Prices = plan.Prices(sc)
	for _, v := range sc.Variants {
		manifest.Variants = append(manifest.Variants, v.Name)
		if v.Notes != "" {
			manifest.Notes[v.Name] = hide(v.Notes)
		}
	}
	for _, p := range sc.Points {
		manifest.Points = append(manifest.Points, p.Label)
	}
	return manifest
}

// environment describes this machine for environment.json.
func (s *session) environment(host gpu.HostFacts) map[string]any {
	return map[string]any{"bench": version, "go": runtime.Version(), "node": s.node, "host": host, "gpu": s.inventory, "env_used": s.sc.EnvUsed, "limits": limits()}
}

// secretsInClear reports whether a scenario or its overrides hold secrets, which
// a results folder does not keep.
func secretsInClear(sc *scenarios.Scenario) bool {
	hide := recipe.Redactor(sc.Secrets)
	return hide(string(sc.Source)) != string(sc.Source) || !slices.Equal(hideAll(hide, sc.Sets), sc.Sets)
}

func hideAll(hide func(string) string, words []string) []string {
	var hidden []string
	for _, word := range words {
		hidden = append(hidden, hide(word))
	}
	return hidden
}

// sizes are those of the models by variant, as the scenario says, else those of
// model files.
func sizes(sc *scenarios.Scenario) map[string]string {
	const gib = 1 << 30
	all := map[string]string{}
	for _, v := range sc.Variants {
		all[v.Name] = v.Size
		if info, err := os.Stat(v.Server.Model); v.Size == "" && filepath.IsAbs(v.Server.Model) && err == nil && info.Mode().IsRegular() {
			all[v.Name] = fmt.Sprintf("%.2f GiB", float64(info.Size())/gib)
		}
		if all[v.Name] == "" {
			delete(all, v.Name)
		}
	}
	return all
}

// launcherAdapter gives harness the interfaces it declares.
type launcherAdapter struct{ *launchers.Launcher }

func (a launcherAdapter) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	server, err := a.Launcher.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return server, nil
}

func (a launcherAdapter) Start(ctx context.Context, kind engines.Kind, spec recipe.Spec) (harness.Program, error) {
	tool, err := a.Launcher.Start(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return tool, nil
}

// loadDriver is the embedded client; its reports carry what is known of its
// limits on this machine.
type loadDriver struct{ calibration *results.Calibration }

func newLoadDriver(e env) loadDriver {
	calibration, err := calibrate.Stored()
	if err != nil {
		fmt.Fprintf(e.Stderr, "warning: %v\n", err)
	}
	return loadDriver{calibration}
}

func (d loadDriver) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport, error) {
	report, err := load.Run(ctx, o, prompts, emit)
	report.Calibration = d.calibration
	return report, err
}

func simulated(sc *scenarios.Scenario) bool {
	for _, v := range sc.Variants {
		if kind, ok := engines.Lookup(v.Server.Launcher); ok && kind.Simulated {
			return true
		}
	}
	return false
}

// newRunID is a folder name that sorts by time and does not collide.
func newRunID() string { return time.Now().UTC().Format("20060102-150405") + "-" + randomHex(2) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: see crypto/rand
	return hex.EncodeToString(b)
}

func join(problems []*schema.Error) error {
	errs := make([]error, len(problems))
	for i, problem := range problems {
		errs[i] = problem
	}
	return errors.Join(errs...)
}
