package hooks

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// The moments of a hook, as records and BENCH_PHASE have them.
const (
	whenCheck  = "check"
	whenBefore = "before"
	whenAfter  = "after"
	whenUndo   = "undo"

	phaseEvaluate = "evaluate" // of BENCH_PHASE
)

// Program carries out what a scenario puts around the measuring; a Runner is one.
type Program interface {
	// Run carries out a hook. vars are BENCH_* variables that say what it stands
	// before or after.
	Run(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord
	// Undo puts a hook's change back.
	Undo(ctx context.Context, hook scenarios.Hook, vars map[string]string) results.HookRecord
	// Check looks at a condition of the machine.
	Check(ctx context.Context, check scenarios.Check) results.HookRecord
	// Evaluate runs the command that measures the quality of a step's servers.
	Evaluate(ctx context.Context, e scenarios.Evaluation, vars map[string]string) *results.CommandScore
}

// Around runs the hooks of one run, in their order: before and after the run,
// each server start and each step. Every undo is in the journal before anything
// is changed.
type Around struct {
	Scenario *scenarios.Scenario
	Program  Program // nil: the scenario must have no hooks and checks
	RunID    string
	Dir      string // of the run's results
	Live     *status.Live
	Journal  func(results.Event) error
	Observe  func(status.Update)

	levels   map[string]*level // that are under way
	warnings []results.Warning // that hold for every step from now on
}

// level is a run, server start or step that has hooks before and after it.
type level struct {
	name     string
	vars     map[string]string
	event    results.Event // with step, attempt and life
	entered  bool          // all that comes before it is done
	open     []scenarios.Hook
	records  []results.HookRecord
	warnings []results.Warning
}

// BeforeRun looks at the machine and runs the hooks of the run. The failure says
// that one of them refuses it.
func (a *Around) BeforeRun(ctx context.Context) *results.Failure {
	a.levels = map[string]*level{}
	l := a.enter(plan.LevelRun, results.Event{}, nil)
	for _, check := range a.Scenario.Checks {
		record := a.Program.Check(ctx, check)
		record.Level, record.When = plan.LevelRun, whenCheck
		if failure := a.judge(ctx, l, record, check.Refuse); failure != nil {
			return failure
		}
	}
	return a.before(ctx, l, a.Scenario.Hooks.Run.Before)
}

// AfterRun ends what BeforeRun began. Like all that comes after, it works when
// ctx has ended.
func (a *Around) AfterRun(ctx context.Context) {
	if l := a.levels[plan.LevelRun]; l != nil {
		a.after(context.WithoutCancel(ctx), l, a.Scenario.Hooks.Run.After)
	}
}

// BeforeLife runs the hooks of level variant before servers start: the
// scenario's, then the variant's own. id names the life's folder.
func (a *Around) BeforeLife(ctx context.Context, life plan.Life, id string) *results.Failure {
	l := a.enter(plan.LevelVariant, results.Event{Life: id},
		map[string]string{"BENCH_VARIANT": life.Variant, "BENCH_LIFE": id})
	own := a.Scenario.Variants[life.VariantIndex].Hooks
	return a.before(ctx, l, slices.Concat(a.Scenario.Hooks.Variant.Before, own.Before))
}

// AfterLife runs the variant's own hooks, then the scenario's.
func (a *Around) AfterLife(ctx context.Context, life plan.Life) {
	if l := a.levels[plan.LevelVariant]; l != nil {
		own := a.Scenario.Variants[life.VariantIndex].Hooks
		a.after(context.WithoutCancel(ctx), l, slices.Concat(own.After, a.Scenario.Hooks.Variant.After))
	}
}

// BeforeStep runs the hooks of a step. Its result gets what they said, and what
// the hooks of its server start said.
func (a *Around) BeforeStep(ctx context.Context, step results.StepRef, pass int, servers []results.Server,
	result *results.Result,
) *results.Failure {
	life := servers[0].Life
	l := a.enter(plan.LevelStep, results.Event{Step: step.ID, Attempt: step.Attempt, Life: life},
		stepVars(step, pass, servers))
	failure := a.before(ctx, l, a.Scenario.Hooks.Step.Before)

	a.OfLife(result)
	result.Hooks = append(result.Hooks, l.records...)
	result.Warnings = append(result.Warnings, l.warnings...)
	l.records, l.warnings = nil, nil
	return failure
}

// AfterStep runs the hooks that come after a step.
func (a *Around) AfterStep(ctx context.Context, result *results.Result) {
	l := a.levels[plan.LevelStep]
	if l == nil {
		return
	}
	l.vars["BENCH_VERDICT"] = string(result.Verdict)
	a.after(context.WithoutCancel(ctx), l, a.Scenario.Hooks.Step.After)
	result.Hooks = append(result.Hooks, l.records...)
	result.Warnings = append(result.Warnings, l.warnings...)
}

// EvaluateStep runs the scenario's evaluation beside the servers of the step that is
// under way. It returns nil if no step is, or if the scenario has no evaluation.
func (a *Around) EvaluateStep(ctx context.Context) *results.CommandScore {
	l := a.levels[plan.LevelStep]
	if l == nil || !a.Scenario.Evaluation.Given() {
		return nil
	}
	e := a.Scenario.Evaluation
	a.Live.Enter(results.LiveHooks, e.Timeout, "evaluation: "+e.Name)
	return a.Program.Evaluate(ctx, e, l.phase(phaseEvaluate))
}

// OfLife gives the result of a step what the hooks of its server start said.
func (a *Around) OfLife(result *results.Result) {
	result.Warnings = append(result.Warnings, a.warnings...)
	if l := a.levels[plan.LevelVariant]; l != nil {
		result.Hooks = append(result.Hooks, l.records...)
		result.Warnings = append(result.Warnings, l.warnings...)
	}
}

func stepVars(step results.StepRef, pass int, servers []results.Server) map[string]string {
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.BaseURL)
	}
	return map[string]string{
		"BENCH_PASS":    strconv.Itoa(max(pass, 1)),
		"BENCH_VARIANT": step.Variant, "BENCH_LIFE": servers[0].Life, "BENCH_STEP": step.ID, "BENCH_POINT": step.Point,
		"BENCH_REPEAT": strconv.Itoa(step.Repeat), "BENCH_ATTEMPT": strconv.Itoa(step.Attempt),
		"BENCH_BASE_URL": urls[0], "BENCH_BASE_URLS": strings.Join(urls, " "),
		"BENCH_MODEL": servers[0].Model,
	}
}

func (a *Around) enter(name string, event results.Event, vars map[string]string) *level {
	dir := a.Dir
	if abs, err := filepath.Abs(dir); err == nil { // for programs that work in another folder
		dir = abs
	}
	all := map[string]string{
		"BENCH_LEVEL": name, "BENCH_SCENARIO": a.Scenario.Name, "BENCH_RUN_ID": a.RunID, "BENCH_RUN_DIR": dir,
	}
	maps.Copy(all, vars)

	l := &level{name: name, vars: all, event: event}
	a.levels[name] = l
	return l
}

// before runs hooks in order, up to the first that refuses.
func (a *Around) before(ctx context.Context, l *level, hooks []scenarios.Hook) *results.Failure {
	for _, hook := range hooks {
		if failure := a.runBefore(ctx, l, hook); failure != nil {
			return failure
		}
	}
	l.entered = true
	return nil
}

// runBefore runs one hook. Its undo is on disk before anything is changed.
func (a *Around) runBefore(ctx context.Context, l *level, hook scenarios.Hook) *results.Failure {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}

	announced := results.HookRecord{Name: hook.Name, When: whenBefore}
	if err := a.record(l, results.HookStarted, announced, hook); err != nil {
		return results.WriteFailure(err)
	}
	if len(hook.Undo) > 0 {
		l.open = append(l.open, hook)
	}

	record := a.run(ctx, l, hook, whenBefore)
	if err := a.record(l, results.HookFinished, record, hook); err != nil {
		return results.WriteFailure(err)
	}

	return a.judge(ctx, l, record, hook.Refuse)
}

// after runs the hooks after a level that was entered, and in any case undoes
// what was changed for it, the last change first. A record that cannot be
// written is dropped: the run is at its end, or its next event fails likewise.
func (a *Around) after(ctx context.Context, l *level, hooks []scenarios.Hook) {
	delete(a.levels, l.name)
	if l.entered {
		for _, hook := range hooks {
			record := a.run(ctx, l, hook, whenAfter)
			_ = a.record(l, results.HookFinished, record, hook)
			_ = a.judge(ctx, l, record, false)
		}
	}

	for _, hook := range slices.Backward(l.open) {
		record := a.Program.Undo(ctx, hook, l.phase(whenUndo))
		record.Level, record.When, record.Name = l.name, whenUndo, hook.Name
		_ = a.record(l, results.HookUndone, record, hook)
		if _ = a.judge(ctx, l, record, false); !record.OK {
			a.warnings = append(a.warnings, warning(record))
		}
	}
}

func (a *Around) run(ctx context.Context, l *level, hook scenarios.Hook, when string) results.HookRecord {
	a.Live.Enter(results.LiveHooks, hook.Timeout, when+" the "+l.name+": "+hook.Name)
	record := a.Program.Run(ctx, hook, l.phase(when))
	record.Level, record.When, record.Name = l.name, when, hook.Name
	return record
}

// phase is the level's variables at one moment.
func (l *level) phase(when string) map[string]string {
	vars := maps.Clone(l.vars)
	vars["BENCH_PHASE"] = when
	return vars
}

// record writes an event about a hook into the journal, with its undo where it
// has one and the folder that the undo is to run in.
func (a *Around) record(l *level, kind results.EventKind, record results.HookRecord, hook scenarios.Hook) error {
	hide := recipe.Redactor(a.Scenario.Secrets)
	record.Level, record.Name = l.name, hide(record.Name)
	e := l.event
	e.Kind, e.Hook = kind, &record
	if len(hook.Undo) > 0 {
		e.Message, e.Undo = a.Scenario.Dir, recipe.HideEach(hide, hook.Undo)
		if kind == results.HookStarted {
			e.Vars = l.phase(whenUndo)
		}
	}
	return a.Journal(e)
}

// judge keeps a record, reports it, and makes a failure of one that refuses and
// a warning of one that does not.
func (a *Around) judge(ctx context.Context, l *level, record results.HookRecord, refuse bool) *results.Failure {
	l.records = append(l.records, record)
	a.Observe(status.Update{
		Kind: status.HookRan, Step: results.StepRef{ID: l.event.Step}, Life: l.event.Life,
		Hook: &record,
	})
	if record.When == whenCheck {
		// the next event says so if the disk is full
		_ = a.Journal(results.Event{Kind: results.HookFinished, Hook: &record})
	}

	switch {
	case record.OK:
		return nil
	case refuse && ctx.Err() != nil:
		return results.CauseOf(ctx)
	case refuse:
		return results.Failf(results.FailHook, "%s", describe(record))
	case l.name == plan.LevelRun:
		a.warnings = append(a.warnings, warning(record))
	case record.When != whenUndo: // a change that stays is a warning of every step to come
		l.warnings = append(l.warnings, warning(record))
	}

	return nil
}

func warning(record results.HookRecord) results.Warning {
	return results.Warning{Code: results.WarnHook, Message: describe(record)}
}

// describe says which hook did not do what it should.
func describe(record results.HookRecord) string {
	what := map[string]string{
		whenCheck: "check", whenUndo: "undo of",
		whenBefore: "hook before the " + record.Level, whenAfter: "hook after the " + record.Level,
	}[record.When]
	if record.Level == plan.LevelVariant && record.When != whenUndo {
		what = "hook " + record.When + " the server start"
	}
	return what + " " + record.Name + ": " + record.Message
}
