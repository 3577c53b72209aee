package harness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// benchProgram is the program of a step as hooks, telemetry and the stop see
// it: a server that answers nothing.
type benchProgram struct {
	step.Server // nil: nothing asks it for tokens

	mu      sync.Mutex // guards what follows
	info    results.Server
	program Program // nil: not started
}

func (b *benchProgram) Info() results.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// OwnPIDs are those of the program once it runs.
func (b *benchProgram) OwnPIDs() []int {
	b.mu.Lock()
	program := b.program
	b.mu.Unlock()
	if program == nil {
		return nil
	}
	return program.OwnPIDs()
}

// Stop ends what is left of the program.
func (b *benchProgram) Stop(ctx context.Context) (results.Proof, error) { return b.program.Stop(ctx) }

func (b *benchProgram) started(p Program, life string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	simulated := b.info.Simulated
	b.program, b.info = p, p.Info()
	b.info.Life, b.info.Simulated = life, simulated
}

func (b *benchProgram) is(model, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.info.Model, b.info.Version = model, version
}

// runProgram runs a step of method llama-bench: the program in place of server
// and client, from its start to its end.
func (r *Runner) runProgram(ctx context.Context, life plan.Life, a attempt) ([]attempt, error) {
	began := time.Now()
	id := r.freshLife(life.ID)
	defer r.afterLife(ctx, life, id)
	if refused := r.beforeLife(ctx, life, id); refused != nil {
		return r.launchFailed(ctx, life, []attempt{a}, refused)
	}
	r.observe(status.Update{Kind: status.LifeLaunching, Index: r.done + 1, Life: id, Step: a.StepRef})
	if err := r.tell(results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: id}); err != nil {
		return nil, err
	}
	r.outlook(life, &a.Step, true)
	r.Live.BeginLife(a.StepRef, 0, id, 1)
	r.Live.BeginStep(a.StepRef, 0)
	result := r.newResult(a)
	if err := r.benchmark(ctx, life, id, a, result); err != nil {
		return nil, err
	}
	r.pace.step(a.Step, time.Since(began), result.Verdict != results.Failed)
	return r.conclude(ctx, life, a, result)
}

// benchmark fills in the result of a run of the program. The error is about the
// record keeping.
func (r *Runner) benchmark(ctx context.Context, life plan.Life, id string, a attempt, result *results.Result) error {
	skippable, leave := r.Control.skippable(ctx, "step "+a.ID)
	defer leave()
	stepCtx, cancel := r.stepContext(skippable, nil, 0)
	defer cancel(nil)
	program := &benchProgram{info: results.Server{Life: id, Launcher: plan.LlamaBenchName, GPUs: life.Servers[0].GPUs, Simulated: result.Simulated}}
	servers := []step.Server{program}
	defer r.afterStep(ctx, a, servers, result)
	failure := r.beforeStep(stepCtx, a, servers, result)
	watched := step.Pass{Began: failure == nil}
	job := step.Job{Servers: servers, Watch: r.monitor.Observers()}
	result.StartedAt = results.Now()
	if failure == nil {
		endTelling := r.followTests(stepCtx, a, id)
		failure = r.runToEnd(stepCtx, life, id, program, job.Watch)
		endTelling()
	}
	if err := job.EndWatch(watched, result); err != nil && failure == nil {
		failure = results.AsFailure(err, results.FailDisk)
	}
	result.EndedAt = results.Now()
	var told error
	if program.program != nil {
		if told = r.readRows(a, id, program, result); failure == nil && len(result.LlamaBench) == 0 {
			failure = results.Failf(results.FailProtocol, "llama-bench ended well and printed no result")
		}
		r.starter.Stop(ctx, id, servers)
		result.Servers = step.Infos(servers)
	} else {
		r.starter.Close(id, failure == nil || failure.Class != results.FailNoProof)
	}
	changed, err := r.sameProgram(life, result, servers)
	failure, told = cmp.Or(failure, changed), cmp.Or(told, err)
	job.Judge(result, watched)
	step.WarnOrigin(result)
	r.judgeProgram(result, failure)
	return told
}

// runToEnd starts the program and waits until it has ended, or ctx has.
func (r *Runner) runToEnd(ctx context.Context, life plan.Life, id string, b *benchProgram, watch []step.Observer) *results.Failure {
	kind, specs, problem, err := plan.Recipes(r.Scenario, r.Scenario.Variants[life.VariantIndex], r.Box)
	switch {
	case err != nil:
		return results.Failf(results.FailBadRecipe, "%v", err)
	case problem != "":
		return results.Failf(results.FailNoGPU, "%s", problem)
	}
	if err := r.starter.Prepare(id, life.Servers); err != nil {
		return results.AsFailure(err, results.FailDisk)
	}
	spec := specs[0]
	spec.Life, spec.Cookie = id, r.Cookie
	spec.LogPath = filepath.Join(r.Folder.LifeDir(id), store.ServerLogName(0))
	spec.Ready = recipe.Ready{Stall: r.Scenario.Watchdog.Stall}
	r.Live.Enter(results.LiveMeasuring, 0, "the program runs to its end")
	zero := time.Now()
	for _, o := range watch {
		o.Begin(ctx, zero)
	}
	program, err := r.Programs.Start(ctx, kind, spec)
	if err != nil {
		failure := results.AsFailure(err, results.FailBadRecipe)
		if failure.Class == results.FailNoProof {
			r.halt(failure) // the box is not clean
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

// readRows reads what the program printed, up to its end whatever that was, and
// tells the journal of each test.
func (r *Runner) readRows(a attempt, id string, b *benchProgram, result *results.Result) error {
	log, err := r.Folder.OpenServerLog(id, 0)
	if err != nil {
		return nil //nolint:nilerr // it ended before it printed anything
	}
	text, err := io.ReadAll(log)
	_ = log.Close() // it was only read
	if err != nil {
		return nil //nolint:nilerr // there are no rows, which is told
	}
	rows, err := llamabench.Parse(text)
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	for _, row := range rows {
		result.LlamaBench = append(result.LlamaBench, benchRow(row))
		b.is(strings.TrimSuffix(filepath.Base(row.File), ".gguf"), row.Build)
		message := fmt.Sprintf("%s of %s: %.2f tokens/s, sd %.2f", row.Test(), cmp.Or(row.File, row.Model), row.TokensPerS, row.TokensPerSD)
		if err := r.tell(results.Event{Kind: results.TestMeasured, Step: a.ID, Attempt: a.Attempt, Life: id, Message: message}); err != nil {
			return err
		}
	}
	return nil
}

func benchRow(r llamabench.Row) results.LlamaBenchRow {
	return results.LlamaBenchRow{
		Test: r.Test(), Build: r.Build, CPU: r.CPU, GPU: r.GPU, Backend: r.Backend, File: r.File, Model: r.Model, SizeBytes: r.SizeBytes,
		Parameters: r.Parameters, Threads: r.Threads, GPULayers: r.GPULayers, Batch: r.Batch, MicroBatch: r.MicroBatch, FlashAttn: r.FlashAttn,
		Prompt: r.Prompt, Generated: r.Generated, Depth: r.Depth, TokensPerS: r.TokensPerS, TokensPerSD: r.TokensPerSD, SamplesS: r.SamplesS,
		Rest: maps.Clone(r.Rest),
	}
}

// sameProgram compares the build that ran with the variant's first one.
func (r *Runner) sameProgram(life plan.Life, result *results.Result, servers []step.Server) (*results.Failure, error) {
	if len(result.LlamaBench) == 0 {
		return nil, nil
	}
	changed, err := r.knowEngine(life.Variant, servers)
	if changed != nil {
		r.skipped[life.VariantIndex] = changed
	}
	if changes := r.engineChanges[life.Variant]; len(changes) > 0 {
		result.Changes = append(result.Changes, changes...)
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnChanged, Message: strings.Join(changes, "; ")})
	}
	return changed, err
}

// judgeProgram gives the verdict: of tests that all ran, by the doubts about
// the box.
func (r *Runner) judgeProgram(result *results.Result, failure *results.Failure) {
	if failure != nil {
		result.Verdict, result.Failure = results.Failed, failure
		if failure.Class == results.FailDisk {
			r.halt(failure)
		}
		return
	}
	tests := len(result.LlamaBench)
	sound := metrics.Evidence{Figures: results.Figures{Asked: tests, Completed: tests}}
	result.Verdict, result.Failure = metrics.Verdict(sound, result.Warnings, 1)
}
