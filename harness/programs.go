package harness

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// asServer is the program of a step as hooks, telemetry and the stop see
// it: a server that answers nothing.
type asServer struct {
	step.Server // nil: nothing asks it for tokens

	mu      sync.Mutex // guards what follows
	info    results.Server
	program Program // nil: not started
}

func (b *asServer) Info() results.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// Abilities implements step.Server.
func (b *asServer) Abilities() step.Abilities { return step.Abilities{OwnPIDs: b.ownPIDs} }

// ownPIDs are those of the program once it runs.
func (b *asServer) ownPIDs() []int {
	b.mu.Lock()
	program := b.program
	b.mu.Unlock()
	if program == nil {
		return nil
	}
	return program.OwnPIDs()
}

// Stop ends what is left of the program.
func (b *asServer) Stop(ctx context.Context) (results.Proof, error) { return b.program.Stop(ctx) }

func (b *asServer) started(p Program, life string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	simulated := b.info.Simulated
	b.program, b.info = p, p.Info()
	b.info.Life, b.info.Simulated = life, simulated
}

func (b *asServer) is(model, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.info.Model, b.info.Version = model, version
}

// benchProgram is a method that runs a program in place of server and client, from
// its start to its end.
type benchProgram struct{ *run }

func (m benchProgram) round(ctx context.Context, planned plan.Life, pending []attempt) ([]attempt, error) {
	a, began := pending[0], time.Now()
	id := m.freshLife(planned.ID)
	defer m.hooks.AfterLife(ctx, planned)

	if refused := m.beforeLife(ctx, planned, id); refused != nil {
		return m.launchFailed(ctx, planned, []attempt{a}, refused)
	}

	m.observeLife(status.Update{Kind: status.LifeLaunching, Life: id, Step: a.StepRef})
	started := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: id}
	if err := m.record.appendEvent(started); err != nil {
		return nil, err
	}

	m.outlook(planned, &a.Step, true)
	m.live.BeginLife(a.StepRef, 0, id, 1)
	m.live.BeginStep(a.StepRef, 0)

	result := m.steps.newResult(a)
	if err := m.benchmark(ctx, planned, id, a, result); err != nil {
		return nil, err
	}

	m.budget.pace.step(a.Step, time.Since(began), result.Verdict != results.Failed)
	return m.conclude(ctx, planned, a, result)
}

// benchmark fills in the result of a run of the program. The error is about the
// record keeping.
func (m benchProgram) benchmark(ctx context.Context, planned plan.Life, id string, a attempt,
	result *results.Result,
) error {
	skippable, leave := m.control.skippable(ctx, "step "+a.ID)
	defer leave()

	stepCtx, cancel := m.steps.within(skippable, nil, a)
	defer cancel()

	program := &asServer{info: results.Server{
		Life: id, Launcher: string(m.scenario.Method), GPUs: planned.Servers[0].GPUs, Simulated: result.Simulated,
	}}
	servers := []step.Server{program}
	defer m.steps.after(ctx, servers, result)

	warnOfPauses := step.NoticePauses(context.WithoutCancel(ctx))
	failure := m.steps.before(stepCtx, a, servers, result)

	watched := step.Pass{Began: failure == nil}
	job := step.Job{Servers: servers, Watch: m.monitor.Observers()}
	result.StartedAt = results.Now()
	if failure == nil {
		endFollowing := m.followTests(stepCtx, a, id)
		failure = m.runToEnd(stepCtx, planned, id, program, job.Watch)
		endFollowing()
	}
	if err := job.EndWatch(watched, result); err != nil && failure == nil {
		failure = results.WriteFailure(err)
	}

	result.EndedAt = results.Now()
	warnOfPauses(result)

	var recordErr error
	if program.program != nil {
		recordErr = m.readFigures(a, id, program, result)
		if failure == nil && !result.OfProgram() {
			failure = results.Failf(results.FailProtocol, "%s exited with code 0 and gave no result", m.scenario.Method)
		}
		m.starter.Stop(ctx, id, servers)
		result.Servers = step.Infos(servers)
	} else {
		m.starter.Close(id, failure == nil || failure.Class != results.FailNoProof)
	}

	changed, err := m.sameProgram(planned, result, servers)
	job.Judge(result, watched)
	step.WarnOrigin(result)
	m.judge(result, cmp.Or(failure, changed))
	return cmp.Or(recordErr, err)
}

// runToEnd starts the program and waits until it has ended, or ctx has.
func (m benchProgram) runToEnd(ctx context.Context, life plan.Life, id string, b *asServer,
	watch []step.Observer,
) *results.Failure {
	recipes, problem, err := plan.Recipes(m.scenario, m.scenario.Variants[life.VariantIndex], m.machine)
	switch {
	case err != nil:
		return results.Failf(results.FailBadRecipe, "%v", err)
	case problem != "":
		return results.Failf(results.FailNoGPU, "%s", problem)
	}

	if err := m.starter.Prepare(id, life.Servers); err != nil {
		return results.WriteFailure(err)
	}

	kind, spec := recipes[0].Kind, recipes[0].Spec
	spec.Life, spec.Cookie = id, m.cookie
	spec.LogPath = filepath.Join(m.folder.LifeDir(id), store.ServerLogName(0))
	// It has a folder of its own.
	spec.OutputPath, err = filepath.Abs(filepath.Join(m.folder.LifeDir(id), engines.OutputName))
	if err != nil {
		return results.WriteFailure(err)
	}
	spec.Ready = recipe.Ready{Stall: m.scenario.Watchdog.Stall}
	m.live.Enter(results.LiveMeasuring, 0, "the program runs to its end")
	zero := time.Now()
	for _, o := range watch {
		o.Begin(ctx, zero)
	}

	program, err := m.programs.Start(ctx, kind, spec)
	if err != nil {
		failure := results.AsFailure(err, results.FailBadRecipe)
		if failure.Class == results.FailNoProof {
			m.halt(failure) // the machine is not clean
		}
		return failure
	}

	b.started(program, id)
	select {
	case <-program.Done():
		return program.Failure()
	case <-ctx.Done():
		return results.CauseOf(ctx)
	}
}

// readFigures reads what the program gave, up to its end whatever that was, and
// journals each test.
func (m benchProgram) readFigures(a attempt, id string, b *asServer, result *results.Result) error {
	run := m.read(id, true)
	result.LlamaBench, result.Measures = run.Rows, run.Measures
	if len(run.Measures) > 0 {
		result.MeasuredBy = string(m.scenario.Method)
	}

	notes := run.Notes
	variant, _ := m.scenario.Variant(a.Variant)
	if b.program.Failure() == nil {
		asked, held := plan.ExpectedTests(m.scenario, variant, run.Context)
		notes = append(notes, missingTests(run, asked, held)...)
	}
	if len(notes) > 0 {
		result.Warnf(results.WarnProgramOutput, "%s", strings.Join(notes, "; "))
	}

	b.is(cmp.Or(variant.Server.Model, b.Info().Model), b.program.Info().Version)
	for _, test := range run.Tests {
		if test.Model != "" {
			b.is(test.Model, test.Version)
		}
		if err := m.record.appendEvent(results.Event{
			Kind: results.TestMeasured, Step: a.ID, Attempt: a.Attempt, Life: id, Message: test.Summary,
		}); err != nil {
			return err
		}
	}

	return nil
}

// missingTests says of how many tests a program that ended well gave no result, and
// why: it was asked for so many, so many of which its context holds.
// llama-batched-bench prints by a thread that it does not wait for at its end.
func missingTests(run programs.Run, asked, held int) (notes []string) {
	if run.Context > 0 && max(held, len(run.Tests)) < asked {
		notes = append(notes, fmt.Sprintf("the context of %s does not hold %d of %s: raise ctx-size",
			text.Count(int(run.Context), "token"), asked-max(held, len(run.Tests)), text.Count(asked, "test")))
	}
	if len(run.Tests) < held {
		notes = append(notes, fmt.Sprintf("the program ended before it had printed %d of %s: run it again",
			held-len(run.Tests), text.Count(held, "test")))
	}
	return notes
}

// read reads what the program of a life has printed, and written in a file. Where
// it has not ended, the last line may be incomplete.
func (m benchProgram) read(id string, ended bool) programs.Run {
	log, err := m.folder.OpenServerLog(id, 0)
	if err != nil {
		return programs.Run{} // it has not printed anything
	}
	printed, err := io.ReadAll(log)
	_ = log.Close() // it was only read
	if err != nil {
		return programs.Run{} // there are no figures, which is reported
	}

	var written []byte
	if ended {
		written = m.folder.ReadOutput(id, engines.OutputName)
	} else {
		printed = printed[:bytes.LastIndexByte(printed, '\n')+1]
	}
	return programs.ReadRun(programs.Program(m.scenario.Method), printed, written)
}

// sameProgram compares the build that ran with the variant's first one.
func (m benchProgram) sameProgram(life plan.Life, result *results.Result, servers []step.Server) (*results.Failure,
	error,
) {
	if !result.OfProgram() {
		return nil, nil
	}

	changed, err := m.sameEngine(life, servers)
	if changes := m.engines.changes[life.Variant]; len(changes) > 0 {
		result.Changes = append(result.Changes, changes...)
		result.Warnf(results.WarnChanged, "%s", strings.Join(changes, "; "))
	}

	return changed, err
}

// judge gives the verdict: of tests that all ran, by the doubts about
// the machine.
func (m benchProgram) judge(result *results.Result, failure *results.Failure) {
	if failure != nil {
		result.Verdict, result.Failure = results.Failed, failure
		if failure.Class == results.FailDisk {
			m.halt(failure)
		}
		return
	}
	tests := len(result.LlamaBench) + len(result.Measures)
	valid := metrics.Evidence{Figures: results.Figures{Asked: tests, Completed: tests}}
	result.Verdict, result.Failure = metrics.Verdict(valid, result.Warnings, 1)
}

// TestMeasured is a test that a program has measured; Message says which, and how
// fast.
const TestMeasured status.UpdateKind = "test-measured"

// testsPoll is how often the output of a program is looked at that runs.
const testsPoll = time.Second

// followTests reports each test of a program that runs, as soon as it prints
// it. stop ends that and waits.
func (m benchProgram) followTests(ctx context.Context, a attempt, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for shown := 0; sleep.For(ctx, testsPoll); {
			tests := m.read(id, false).Tests
			for _, test := range tests[min(shown, len(tests)):] {
				shown++
				m.observeStep(status.Update{
					Kind: TestMeasured, Step: a.StepRef, Life: id,
					Message: fmt.Sprintf("test %d: %s", shown, test.Summary),
				})
			}
		}
	}()
	return func() { cancel(); <-done }
}
