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
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"benchrig/calibrate"
	"benchrig/gpu"
	"benchrig/harness"
	"benchrig/launchers"
	"benchrig/launchers/process"
	"benchrig/load"
	"benchrig/results"
	"benchrig/scenarios"
)

const runLong = `Run a scenario: launch each variant, wait until it has answered with a token,
drive it with the scenario's load, stop it, prove that it is gone, go on.

Progress goes to stderr; the report, the same that 'bench report' prints
later, to stdout. Ctrl-C once stops cleanly and keeps what was measured; twice
hurries. A closed terminal does not end the run.`

type runOptions struct {
	scenarioOptions
	out string
}

func newRunCommand(e env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a scenario", Long: runLong,
		Example: "  bench run scenarios/quickstart.yaml\n  bench run my.yaml --set load.num-prompts=16 --out /data/results",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, given []string) error { return runRun(cmd.Context(), e, o, given[0]) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.out, "out", "results", "folder that gets SCENARIO/RUN-ID/")
	return cmd
}

func runRun(ctx context.Context, e env, o runOptions, path string) error {
	sc, err := o.load(e, path)
	if err != nil {
		return err
	}
	if blockers := sc.Blockers(); len(blockers) > 0 {
		return usageError(join(blockers))
	}
	warnOf(e, sc)
	inventory, err := gpu.Detect(ctx, gpuOptions(e))
	if err != nil {
		return fmt.Errorf("look for GPUs: %w", err)
	}
	if err := harness.CheckDatasets(ctx, sc); err != nil {
		return usageError(err)
	}
	box := boxOf(inventory, e.self)
	plan, err := harness.NewPlan(sc, box)
	if err != nil {
		return usageError(err)
	}
	readers, err := openTelemetry(ctx, e, sc.Telemetry, inventory)
	if err != nil {
		return usageError(err)
	}
	defer func() { _ = readers.Close() }() // it only read
	folder, err := prepare(ctx, o, sc, plan, inventory)
	if err != nil {
		return err
	}
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }() // the kernel would do it anyway
	outcome, err := execute(ctx, e, sc, plan, box, folder, readers)
	if err != nil {
		return fmt.Errorf("%w (what was measured is in %s)", err, folder.Dir())
	}
	if err := printReport(e, folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}
	return outcome.exit()
}

// warnOf tells what may keep steps from running, and what may not be meant.
func warnOf(e env, sc *scenarios.Scenario) {
	for _, warning := range sc.Warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", warning)
	}
	for _, problem := range sc.Problems() {
		fmt.Fprintf(e.stderr, "warning: %s\n", problem)
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
func prepare(ctx context.Context, o runOptions, sc *scenarios.Scenario, plan *harness.Plan, inventory gpu.Inventory) (*results.Folder, error) {
	id := newRunID()
	folder, err := results.Create(o.out, sc.Name, id)
	if err != nil {
		return nil, err
	}
	hide := launchers.Redactor(sc.Secrets)
	manifest := results.Manifest{
		Bench: version, Scenario: sc.Name, Description: sc.Description, Run: id, StartedAt: time.Now().Format(time.RFC3339),
		Planned: plan.Refs(), Simulated: simulated(sc),
	}
	for _, set := range sc.Sets {
		manifest.Sets = append(manifest.Sets, hide(set))
	}
	for _, v := range sc.Variants {
		manifest.Variants = append(manifest.Variants, v.Name)
	}
	for _, p := range sc.Points {
		manifest.Points = append(manifest.Points, p.Label)
	}
	environment := map[string]any{"bench": version, "go": runtime.Version(), "host": gpu.Host(ctx), "gpu": inventory, "env_used": sc.EnvUsed}
	return folder, errors.Join(
		folder.WriteFile(results.ScenarioName, []byte(hide(string(sc.Source)))),
		folder.WriteJSON(results.PlanName, plan),
		folder.WriteJSON(results.EnvironmentName, environment),
		folder.WriteManifest(manifest),
	)
}

func execute(ctx context.Context, e env, sc *scenarios.Scenario, plan *harness.Plan, box harness.Box, folder *results.Folder, readers *telemetry) (ended, error) {
	journal, err := folder.OpenJournal()
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	logFile, err := os.OpenFile(filepath.Join(folder.Dir(), "bench.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return ended{}, err
	}
	defer logFile.Close()
	log := zerolog.New(logFile).With().Timestamp().Logger()
	if err := process.BecomeSubreaper(); err != nil {
		log.Warn().Err(err).Msg("orphans of servers will not be seen by their parent")
	}
	launcher := &launchers.Launcher{Journal: journal.Append, Environ: e.environ}
	ctx, stop := watchSignals(ctx, e, log, launcher.Hurry)
	defer stop()
	around := newHooks(e, sc, box, folder.Dir())
	runner := &harness.Runner{
		Scenario: sc, Plan: plan, Box: box, Folder: folder, Journal: journal,
		Launcher: launcherAdapter{launcher}, Driver: newLoadDriver(e), Telemetry: readers, Hooks: around, Notifier: around, Observe: newProgress(e, log, folder.Dir()).observe,
		Version: version, RunID: filepath.Base(folder.Dir()), Cookie: randomHex(16),
	}
	around.Cookie = runner.Cookie
	outcome, err := runner.Run(ctx)
	return ended{outcome, ctx.Err() != nil}, err
}

// launcherAdapter gives harness the interface it declares.
type launcherAdapter struct{ *launchers.Launcher }

func (a launcherAdapter) Launch(ctx context.Context, kind launchers.Kind, spec launchers.Spec) (harness.Server, error) {
	server, err := a.Launcher.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return server, nil
}

// loadDriver is the embedded client; its reports carry what is known of its
// limits on this machine.
type loadDriver struct{ calibration *results.Calibration }

func newLoadDriver(e env) loadDriver {
	calibration, err := calibrate.Stored()
	if err != nil {
		fmt.Fprintf(e.stderr, "warning: %v\n", err)
	}
	return loadDriver{calibration}
}

func (d loadDriver) Run(ctx context.Context, o load.Options, prompts []load.Prompt, emit load.Emit) (results.ClientReport, error) {
	report, err := load.Run(ctx, o, prompts, emit)
	report.Calibration = d.calibration
	return report, err
}

func boxOf(inventory gpu.Inventory, self string) harness.Box {
	return harness.Box{Self: self, Vendor: inventory.Vendor(), GPUs: inventory.Count(), Devices: inventory.Of(inventory.Vendor())}
}

func simulated(sc *scenarios.Scenario) bool {
	for _, v := range sc.Variants {
		if kind, ok := launchers.Lookup(v.Server.Launcher); ok && kind.Simulated {
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

func join(problems []*scenarios.Error) error {
	errs := make([]error, len(problems))
	for i, problem := range problems {
		errs[i] = problem
	}
	return errors.Join(errs...)
}
