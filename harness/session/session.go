package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness/leftovers"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/plan/identity"
	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Session is a scenario on this machine, planned and ready to be carried out.
type Session struct {
	Process   machine.Process
	Scenario  *scenarios.Scenario
	Inventory gpu.Inventory // the GPUs that the run may use and that are sampled
	Machine   plan.Machine
	Plan      *plan.Plan
	Node      string              // name of this machine
	Origin    *results.Reproduces // run that this one repeats; nil: none
	Nodes     Nodes               // reaches other nodes of the run; nil: there are none
	Show      Show                // how the run is shown; nil: it is not
	Doubts    []results.Warning   // about this machine, for every step on it

	telemetry *machine.Telemetry
	state     *state.Store // once the machine is taken
	lock      *state.Lock
}

// Nodes reaches the other nodes of a job.
type Nodes interface {
	cleanup.NodeSweeper
	telemetry.NodeSource
}

// Open looks at the machine, plans, and opens the samplers of its GPUs. It
// changes nothing; the caller closes it.
func Open(ctx context.Context, p machine.Process, sc *scenarios.Scenario) (*Session, error) {
	s, err := New(ctx, p, sc, p.MachineOf)
	if err != nil {
		return nil, err
	}
	return s, s.OpenTelemetry(ctx)
}

// New looks at the machine and plans for what machineOf makes of it.
func New(ctx context.Context, p machine.Process, sc *scenarios.Scenario,
	machineOf func(gpu.Inventory, string) plan.Machine,
) (*Session, error) {
	if blockers := sc.Blockers(); len(blockers) > 0 {
		return nil, usage.Mark(join(blockers))
	}

	short, err := step.CheckDatasets(ctx, sc)
	Warn(p.Stderr, sc, short...)
	if err != nil {
		return nil, usage.Mark(err)
	}

	inventory, err := gpu.Detect(ctx, p.GPUOptions())
	if err != nil {
		return nil, fmt.Errorf("look for GPUs: %w", err)
	}

	s := &Session{Process: p, Scenario: sc, Inventory: inventory, Machine: machineOf(inventory, p.Self)}
	s.Machine.Visibility, s.Machine.HubCache = p.Visibility(), p.HubCache()
	s.Node, _ = os.Hostname() // "": not known
	if s.Plan, err = plan.New(sc, s.Machine); err != nil {
		return nil, usage.Mark(err)
	}

	return s, nil
}

func join(problems []*schema.Error) error {
	errs := make([]error, len(problems))
	for i, problem := range problems {
		errs[i] = problem
	}
	return errors.Join(errs...)
}

// OpenTelemetry opens the samplers of the session's GPUs.
func (s *Session) OpenTelemetry(ctx context.Context) (err error) {
	if s.telemetry, err = s.Process.OpenTelemetry(ctx, s.Scenario.Telemetry, s.Inventory); err != nil {
		return usage.Mark(err)
	}
	return nil
}

// Close gives back what the session holds.
func (s *Session) Close() {
	_ = s.telemetry.Close() // it only read
	if s.lock != nil {
		_ = s.lock.Release() // the kernel would do it anyway
	}
}

// MachineError says that this machine cannot be used for a run, whatever its
// scenario.
type MachineError struct{ Err error }

func (e *MachineError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *MachineError) Unwrap() error { return e.Err }

// Take keeps other runs off this machine until Close, and removes what earlier
// ones left, those in dirs included. what is the command, for others to read. The
// error is a *MachineError.
func (s *Session) Take(ctx context.Context, what string, wait bool, dirs ...string) error {
	if err := s.take(ctx, what, wait, dirs); err != nil {
		return &MachineError{err}
	}
	return nil
}

func (s *Session) take(ctx context.Context, what string, wait bool, dirs []string) error {
	machine, err := s.Process.OpenState()
	if err != nil {
		return err
	}
	s.state = machine
	if s.lock, err = lock(ctx, s.Process.Stderr, machine, what, wait); err != nil {
		return err
	}

	with := s.Process.Cleaner(s.Inventory, s.telemetry.Watcher())
	return leftovers.RemoveAll(ctx, s.Process.Stderr, s.state, with, dirs...)
}

// jobLockTime is longer than another job looks for what this one may have left
// before it was queued again.
const jobLockTime = 5 * time.Minute

// TakeJob takes the part of the machine that a scheduler's job was given, and
// removes what this user's ended jobs left on the machine.
func (s *Session) TakeJob(ctx context.Context, job, what string) error {
	root, err := s.Process.JobStateRoot()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("%w; set BENCH_STATE_DIR to a folder on the node that can be written", err)
	}

	waiting, free := context.WithTimeoutCause(ctx, jobLockTime, errors.New("another bench has its state on this node"))
	defer free()

	if s.state, s.lock, err = state.LockJob(waiting, root, job, what); err != nil {
		return err
	}

	w, with := s.Process.Stderr, s.Process.Cleaner(s.Inventory, s.telemetry.Watcher())
	return errors.Join(leftovers.RemoveAll(ctx, w, s.state, with), leftovers.RemoveJobs(ctx, w, root, with))
}

// ForgetJob removes the state of a job of which nothing is left.
func (s *Session) ForgetJob() error {
	if runs, err := s.state.Runs(); err != nil || len(runs) > 0 {
		return nil //nolint:nilerr // what cannot be read stays for bench clean
	}
	return s.state.Remove()
}

// Identity is what this run is recognised by later, on this machine or another.
func (s *Session) Identity(host gpu.HostFacts) results.Identity {
	path, _ := s.Process.Lookup("PATH")
	id := results.Identity{
		Bench: s.Process.Version, Kernel: host.Kernel, Drivers: s.Inventory.Drivers, GPUs: []string{},
		Files: identity.Files(s.Plan, s.Scenario.Dir, path, s.Process.Self),
	}
	if abs, err := filepath.Abs(s.Scenario.Path); err == nil {
		id.ScenarioPath = abs
	}
	for _, d := range s.Machine.Devices {
		id.GPUs = append(id.GPUs, d.ID())
	}
	return id
}

// RepeatOf gives the session of a repetition that is resumed the steps and
// prompts that its folder has.
func (s *Session) RepeatOf(run *results.Run) error {
	if run.Manifest.Reproduces == nil {
		return nil
	}

	frozen, err := plan.OpenFrozen(run.Dir)
	if err != nil {
		return err
	}

	var ids []string
	for _, ref := range run.Manifest.Planned {
		ids = append(ids, ref.ID)
	}

	if s.Plan, err = s.Plan.Only(ids); err != nil {
		return usage.Errorf("not the same experiment as at the start of the run: %w", err)
	}

	pins, err := plan.PinsOf(run.Plan)
	if err != nil {
		return err
	}

	s.Plan.Pin(pins)

	s.Plan.Freeze(frozen)
	return nil
}

// simulated reports whether a variant's server is a simulator.
func simulated(sc *scenarios.Scenario) bool {
	return slices.ContainsFunc(sc.Variants, func(v scenarios.Variant) bool {
		return v.Server.Kind().Simulated
	})
}
