package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// boxWait says what to do when another bench works on the box.
type boxWait struct{ wait bool }

func (o *boxWait) addFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.wait, "wait-for-box", false, "wait while another bench works on this box, instead of refusing")
}

// session is a scenario on this box, about to be carried out: what run and
// resume share.
type session struct {
	e         env
	sc        *scenarios.Scenario
	inventory gpu.Inventory
	box       plan.Box
	plan      *plan.Plan
	readers   *machine.Telemetry
	node      string              // name of this machine
	origin    *results.Reproduces // run that this one repeats; nil: none

	state *state.Box // once takeBox has it
	lock  *state.Lock
}

// newSession looks at the box, plans, and opens what its GPUs are read by. It
// touches nothing; the caller closes it.
func newSession(ctx context.Context, e env, sc *scenarios.Scenario) (*session, error) {
	s, err := planSession(ctx, e, sc, machine.BoxOf)
	if err != nil {
		return nil, err
	}
	if s.readers, err = e.OpenTelemetry(ctx, sc.Telemetry, s.inventory); err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// planSession looks at the box and plans for what boxOf makes of it.
func planSession(ctx context.Context, e env, sc *scenarios.Scenario, boxOf func(gpu.Inventory, string) plan.Box) (*session, error) {
	if blockers := sc.Blockers(); len(blockers) > 0 {
		return nil, usageError(join(blockers))
	}
	warnOf(e, sc)
	inventory, err := gpu.Detect(ctx, e.GPUOptions())
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}
	if err := step.CheckDatasets(ctx, sc); err != nil {
		return nil, usageError(err)
	}
	s := &session{e: e, sc: sc, inventory: inventory, box: boxOf(inventory, e.Self)}
	s.box.Visibility = e.Visibility()
	s.node, _ = os.Hostname() // "": not known
	if s.plan, err = plan.New(sc, s.box); err != nil {
		return nil, usageError(err)
	}
	return s, nil
}

// Close gives back what the session holds.
func (s *session) Close() {
	_ = s.readers.Close() // it only read
	if s.lock != nil {
		_ = s.lock.Release() // the kernel would do it anyway
	}
}

// takeBox keeps other runs away until Close, and ends what earlier ones have
// left, those in dirs included.
func (s *session) takeBox(ctx context.Context, what string, wait bool, dirs ...string) error {
	var err error
	if s.state, err = s.e.OpenState(); err != nil {
		return err
	}
	if s.lock, err = takeBox(ctx, s.e, s.state, what, wait); err != nil {
		return err
	}
	with := s.e.Cleaner(s.inventory, s.readers.Watcher())
	return leftovers.RemoveAll(ctx, s.e.Stderr, s.state, with, dirs...)
}

// identity is by what this run can be told from one on another box, or later.
func (s *session) identity(host gpu.HostFacts) results.Identity {
	path, _ := s.e.Lookup("PATH")
	id := results.Identity{
		Bench: version, Kernel: host.Kernel, Drivers: s.inventory.Drivers, GPUs: []string{}, Files: plan.Files(s.plan, s.sc.Dir, path, s.e.Self),
	}
	if abs, err := filepath.Abs(s.sc.Path); err == nil {
		id.ScenarioPath = abs
	}
	for _, d := range s.box.Devices {
		id.GPUs = append(id.GPUs, d.ID())
	}
	return id
}

// carryOut runs what is to be run in a folder that is locked, and prints the
// report. resume is nil for a run that starts.
func (s *session) carryOut(ctx context.Context, folder *results.Folder, resume *harness.Resume) error {
	outcome, err := s.measure(ctx, folder, resume)
	if err != nil {
		return err
	}
	if err := printReport(s.e, folder.Dir(), reportOptions{write: true}); err != nil {
		return err
	}
	if outcome.Ended != nil {
		fmt.Fprintf(s.e.Stderr, "bench: the run was ended early: %s\nbench: to go on: bench resume %s\n", outcome.Ended.Error(), folder.Dir())
	}
	return outcome.exit()
}

// measure runs what is to be run, noted with the box until nothing is left.
func (s *session) measure(ctx context.Context, folder *results.Folder, resume *harness.Resume) (ended, error) {
	cookie := randomHex(16)
	if err := s.state.Register(state.Run{Dir: folder.Own(""), Cookie: cookie}); err != nil {
		return ended{}, err
	}
	outcome, err := s.execute(ctx, folder, resume, cookie)
	if err = errors.Join(err, leftovers.Close(s.state, folder)); err != nil {
		return outcome, fmt.Errorf("%w (what was measured is in %s)", err, folder.Dir())
	}
	return outcome, nil
}

func (s *session) execute(ctx context.Context, folder *results.Folder, resume *harness.Resume, cookie string) (ended, error) {
	journal, err := folder.OpenJournal()
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already
	logFile, err := os.OpenFile(folder.Own("bench.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return ended{}, err
	}
	defer logFile.Close()
	log := zerolog.New(logFile).With().Timestamp().Logger()
	if err := process.BecomeSubreaper(); err != nil {
		log.Warn().Err(err).Msg("orphans of servers will not be seen by their parent")
	}
	launcher := &launchers.Launcher{Journal: journal.Append, Environ: s.e.Environ, GPUs: s.readers.Watcher(), GPUBytes: machine.GPUBytes(s.inventory)}
	if len(s.box.Nodes) > 1 {
		launcher.Nodes = nodeSweeper{s.e}
	}
	now, control := s.newLive(folder), &harness.Control{}
	e, shown := watchRun(ctx, s.e, folder, now, control)
	defer shown.close()
	ctx, stop := watchSignals(ctx, e, log, launcher.Hurry)
	defer stop()
	told := newProgress(e, log, folder.Dir())
	told.hidden, now.Told = shown.shown, told.waiting
	defer now.Start(ctx)()
	driver, err := clientOf(ctx, s.e, s.sc)
	if err != nil {
		return ended{}, err
	}
	defer endAgents(driver)
	around := e.Hooks(s.sc, s.box, folder.Dir())
	around.Cookie = cookie
	runner := &harness.Runner{
		Scenario: s.sc, Plan: s.plan, Box: s.box, Folder: folder, Journal: journal, Resume: resume,
		Launcher: launcherAdapter{launcher}, Programs: launcherAdapter{launcher}, Driver: driver, Telemetry: s.readers, Hooks: around, Notifier: around,
		Observe: told.observe, Live: now, Control: control, Version: version, RunID: filepath.Base(folder.Dir()), Cookie: cookie, Node: s.node,
	}
	began := time.Now()
	outcome, err := runner.Run(ctx)
	log.Info().Dur("took", time.Since(began)).Msg("ended")
	return ended{outcome, ctx.Err() != nil || control.Stopping() != nil && outcome.Ended != nil}, err
}
