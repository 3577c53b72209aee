package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Show begins to show a run. The context that it returns ends when the user
// asks for the end of the run.
type Show func(ctx context.Context, r Running) (context.Context, Shown)

// Running is a run about to begin.
type Running struct {
	Process machine.Process
	Folder  *store.Folder
	Log     zerolog.Logger // bench.log
	Live    *status.Live
	Control *harness.Control
	KillNow func() // has servers killed that are being stopped
}

// Shown receives what happens in a run.
type Shown struct {
	Process machine.Process // whose Stderr does not disturb what is shown
	Observe func(status.Update)
	Waiting func(results.Live) // called every second
	Close   func()
}

// Outcome is how a run ended.
type Outcome struct {
	harness.Outcome

	Interrupted bool // by the user
}

// FailuresAsResults is the outcome of a run in which steps that fail may be results
// of their variants, as in a tuning: they are as long as others were measured.
func (o Outcome) FailuresAsResults(are bool) Outcome {
	if are && o.OK+o.Suspect > 0 {
		o.Failed = 0
	}
	return o
}

// Measure carries out the plan in a folder that the caller has locked. The run
// is in the machine's register until nothing of it is left. resume is nil for a
// run that starts.
func (s *Session) Measure(ctx context.Context, folder *store.Folder, resume *harness.Resume) (Outcome, error) {
	cookie := randomHex(16)
	if err := s.state.Register(state.Run{
		Dir: folder.Own(""), Cookie: cookie,
		Engines: s.containerEngines(ctx),
	}); err != nil {
		return Outcome{}, &MachineError{err}
	}

	outcome, err := s.execute(ctx, folder, resume, cookie)
	if err = errors.Join(err, leftovers.Close(s.state, folder.Own(""))); err != nil {
		return outcome, fmt.Errorf("%w (what was measured is in %s)", err, folder.Dir())
	}
	return outcome, nil
}

// containerEngines are the engines that run servers of the scenario. Where it
// names none, it is the one that answers now; none if none does.
func (s *Session) containerEngines(ctx context.Context) []string {
	var engines []string
	for _, v := range s.Scenario.Variants {
		c := v.Server.Container
		if !container.Options(c).Contained() || c.Engine != "" && slices.Contains(engines, c.Engine) {
			continue
		}
		engine := c.Engine
		if engine == "" {
			cli, failure := container.FindCLI(ctx, "", "", s.Process.Environ, container.DefaultLimits())
			if failure != nil {
				continue
			}
			engine = cli.Engine
		}
		engines = append(engines, engine)
	}
	slices.Sort(engines)

	return slices.Compact(engines)
}

func (s *Session) execute(ctx context.Context, folder *store.Folder, resume *harness.Resume, cookie string) (Outcome,
	error,
) {
	journal, err := folder.OpenJournal()
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = journal.Close() }() // every event is on disk already

	notes, err := s.state.OpenNotes(folder.Own(""))
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = notes.Close() }() // every event is on disk already

	record := noted{notes, journal}
	logFile, err := folder.OpenOwn("bench.log", os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return Outcome{}, err
	}
	defer logFile.Close()

	log := zerolog.New(secrets.Writer{W: logFile}).With().Timestamp().Logger()
	if err := process.BecomeSubreaper(); err != nil {
		log.Warn().Err(err).Msg("orphaned processes of servers cannot be adopted")
	}

	launcher := s.launcher(record)
	live, control := s.live(folder), &harness.Control{}
	ctx, shown := s.show(ctx, Running{s.Process, folder, log, live, control, launcher.KillNow})
	defer shown.Close()

	live.OnChange = shown.Waiting
	defer live.Start(ctx)()

	driver, err := client(ctx, s.Process, s.Scenario, s.Machine)
	if err != nil {
		return Outcome{}, err
	}
	defer CloseClient(driver)

	s.Scenario.Notify = slices.DeleteFunc(s.Scenario.Notify, func(n scenarios.Notify) bool {
		return n.Webhook.Value == hiddenWebhook // the plan was made with it, nothing is sent there
	})
	around := shown.Process.Hooks(s.Scenario, s.Machine, folder.Dir())
	around.Cookie = cookie
	runner := &harness.Runner{
		Scenario: s.Scenario, Plan: s.Plan, Machine: s.Machine, Folder: folder, Journal: record, Resume: resume,
		Launcher: launcherAdapter{launcher}, Programs: launcherAdapter{launcher}, Driver: driver,
		Telemetry: s.telemetry, Nodes: s.Nodes,
		Hooks: around, Notifier: around, Observe: shown.Observe, Live: live, Control: control,
		Version: s.Process.Version, RunID: filepath.Base(folder.Dir()), Cookie: cookie, Node: s.Node,
		Doubts: s.Doubts,
	}

	began := time.Now()
	outcome, err := runner.Run(ctx)
	log.Info().Dur("took", time.Since(began)).Msg("ended")
	stopped := ctx.Err() != nil || control.Stopping() != nil && outcome.Ended != nil
	return Outcome{outcome, stopped}, err
}

func (s *Session) show(ctx context.Context, r Running) (context.Context, Shown) {
	if s.Show != nil {
		return s.Show(ctx, r)
	}
	return ctx, Shown{Process: s.Process, Observe: func(status.Update) {}, Close: func() {}}
}

// noted is the journal of a run whose starts and changes are noted in the
// machine's register first: bench clean believes the register alone.
type noted struct {
	notes   *state.Notes
	journal *store.Journal
}

// Append implements harness.Journal.
func (n noted) Append(e results.Event) error {
	if err := n.notes.Append(e); err != nil {
		return err
	}
	e.Vars = nil
	return n.journal.Append(e)
}

func (s *Session) launcher(journal noted) *launchers.Launcher {
	l := &launchers.Launcher{
		Journal: journal.Append, Environ: s.Process.Environ,
		GPUs: s.telemetry.Watcher(), GPUBytes: machine.GPUBytes(s.Inventory),
	}
	if len(s.Machine.Nodes) > 0 {
		l.Nodes = s.Nodes
	}
	return l
}

// launcherAdapter gives harness the interfaces that it declares.
type launcherAdapter struct{ *launchers.Launcher }

// Launch implements harness.Launcher.
func (a launcherAdapter) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	server, err := a.Launcher.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return step.Launched{Server: server}, nil
}

// Start implements harness.Programs.
func (a launcherAdapter) Start(ctx context.Context, kind engines.Kind, spec recipe.Spec) (harness.Program, error) {
	program, err := a.Launcher.Start(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return program, nil
}

// live is what a run writes about itself while it runs.
func (s *Session) live(folder *store.Folder) *status.Live {
	return &status.Live{
		Folder: folder, Version: s.Process.Version, Node: s.Node, Devices: s.Machine.Devices,
		Hide: recipe.Redactor(s.Scenario.Secrets), UsualStartS: s.earlierStarts(folder),
	}
}

// earlierStarts are the seconds that launches of the variants took the last
// time, in this run or the one before it.
func (s *Session) earlierStarts(folder *store.Folder) map[string]float64 {
	took := map[string]float64{}
	parent := filepath.Dir(folder.Dir())
	entries, _ := os.ReadDir(parent) // without them: nothing is known
	var runs []string
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(parent, entry.Name(), results.JournalName)); err == nil {
			runs = append(runs, filepath.Join(parent, entry.Name()))
		}
	}

	own := slices.Index(runs, folder.Dir())
	if own < 0 {
		own = len(runs)
	}

	for _, dir := range runs[max(0, own-1):min(own+1, len(runs))] {
		before, err := store.Open(dir)
		if err != nil {
			continue
		}
		if events, err := before.Events(); err == nil {
			maps.Copy(took, s.Plan.StartTimes(events))
		}
	}

	return took
}
