package harness

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// hookState is what a run knows of its hooks.
type hookState struct {
	began  time.Time
	levels map[string]*hookLevel // that are under way
	doubts []results.Warning     // that hold for every step from now on
	told   bool                  // of the first failure
}

// hookLevel is a run, server life or step that hooks stand around.
type hookLevel struct {
	name    string
	vars    map[string]string
	event   results.Event // with step, attempt and life
	entered bool          // all that comes before it is done
	open    []scenarios.Hook
	records []results.HookRecord
	doubts  []results.Warning
}

// hooksBeforeRun looks at the box and runs the hooks of the run.
func (r *Runner) hooksBeforeRun(ctx context.Context) *results.Failure {
	r.hooks = hookState{began: time.Now(), levels: map[string]*hookLevel{}}
	level := r.enterLevel(plan.LevelRun, results.Event{}, nil)
	for _, check := range r.Scenario.Checks {
		record := r.Hooks.Check(ctx, check)
		record.Level, record.When = plan.LevelRun, "check"
		if failure := r.judgeHook(ctx, level, record, check.Refuse); failure != nil {
			return failure
		}
	}
	return r.hooksBefore(ctx, level, r.Scenario.Hooks.Run.Before)
}

// hooksAfterRun ends what hooksBeforeRun began, and tells whom it concerns.
func (r *Runner) hooksAfterRun(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if level := r.hooks.levels[plan.LevelRun]; level != nil {
		r.hooksAfter(ctx, level, r.Scenario.Hooks.Run.After)
	}
	r.notifyEnd(ctx)
}

// hooksBeforeLife runs the hooks of level variant: the scenario's, then the
// variant's own.
func (r *Runner) hooksBeforeLife(ctx context.Context, life plan.Life, id string) *results.Failure {
	level := r.enterLevel(plan.LevelVariant, results.Event{Life: id}, map[string]string{"BENCH_VARIANT": life.Variant, "BENCH_LIFE": id})
	return r.hooksBefore(ctx, level, slices.Concat(r.Scenario.Hooks.Variant.Before, r.Scenario.Variants[life.VariantIndex].Hooks.Before))
}

// hooksAfterLife runs the variant's own hooks, then the scenario's.
func (r *Runner) hooksAfterLife(ctx context.Context, life plan.Life) {
	if level := r.hooks.levels[plan.LevelVariant]; level != nil {
		r.hooksAfter(context.WithoutCancel(ctx), level, slices.Concat(r.Scenario.Variants[life.VariantIndex].Hooks.After, r.Scenario.Hooks.Variant.After))
	}
}

// hooksBeforeStep runs the hooks of a step. Its result gets what they said,
// and what the hooks of its server life said.
func (r *Runner) hooksBeforeStep(ctx context.Context, a attempt, servers []step.Server, result *results.Result) *results.Failure {
	life := servers[0].Info().Life
	level := r.enterLevel(plan.LevelStep, results.Event{Step: a.ID, Attempt: a.Attempt, Life: life}, stepVars(a, life, servers))
	failure := r.hooksBefore(ctx, level, r.Scenario.Hooks.Step.Before)
	result.Warnings = append(result.Warnings, r.hooks.doubts...)
	if outer := r.hooks.levels[plan.LevelVariant]; outer != nil {
		result.Hooks = append(result.Hooks, outer.records...)
		result.Warnings = append(result.Warnings, outer.doubts...)
	}
	result.Hooks = append(result.Hooks, level.records...)
	result.Warnings = append(result.Warnings, level.doubts...)
	level.records, level.doubts = nil, nil
	return failure
}

// hooksAfterStep runs the hooks that come after a step.
func (r *Runner) hooksAfterStep(ctx context.Context, result *results.Result) {
	level := r.hooks.levels[plan.LevelStep]
	if level == nil {
		return
	}
	level.vars["BENCH_VERDICT"] = string(result.Verdict)
	r.hooksAfter(context.WithoutCancel(ctx), level, r.Scenario.Hooks.Step.After)
	result.Hooks = append(result.Hooks, level.records...)
	result.Warnings = append(result.Warnings, level.doubts...)
}

// hooksOfLife gives the result of a step that never began what the hooks of
// its server life said.
func (r *Runner) hooksOfLife(result *results.Result) {
	result.Warnings = append(result.Warnings, r.hooks.doubts...)
	if level := r.hooks.levels[plan.LevelVariant]; level != nil {
		result.Hooks = append(result.Hooks, level.records...)
		result.Warnings = append(result.Warnings, level.doubts...)
	}
}

func stepVars(a attempt, life string, servers []step.Server) map[string]string {
	var urls []string
	for _, s := range servers {
		urls = append(urls, s.Info().BaseURL)
	}
	return map[string]string{
		"BENCH_PASS":    strconv.Itoa(max(a.pass, 1)),
		"BENCH_VARIANT": a.Variant, "BENCH_LIFE": life, "BENCH_STEP": a.ID, "BENCH_POINT": a.Point, "BENCH_REPEAT": strconv.Itoa(a.Repeat),
		"BENCH_ATTEMPT": strconv.Itoa(a.Attempt), "BENCH_BASE_URL": urls[0], "BENCH_BASE_URLS": strings.Join(urls, " "),
	}
}

// absDir is the results folder as programs that work elsewhere find it.
func (r *Runner) absDir() string {
	if dir, err := filepath.Abs(r.Folder.Dir()); err == nil {
		return dir
	}
	return r.Folder.Dir()
}

func (r *Runner) enterLevel(name string, event results.Event, vars map[string]string) *hookLevel {
	all := map[string]string{"BENCH_LEVEL": name, "BENCH_SCENARIO": r.Scenario.Name, "BENCH_RUN_ID": r.RunID, "BENCH_RUN_DIR": r.absDir()}
	maps.Copy(all, vars)
	level := &hookLevel{name: name, vars: all, event: event}
	r.hooks.levels[name] = level
	return level
}

// hooksBefore runs hooks in order, up to the first that refuses.
func (r *Runner) hooksBefore(ctx context.Context, level *hookLevel, hooks []scenarios.Hook) *results.Failure {
	for _, hook := range hooks {
		if failure := r.hookBefore(ctx, level, hook); failure != nil {
			return failure
		}
	}
	level.entered = true
	return nil
}

// hookBefore runs one hook. Its undo is on disk before anything is changed.
func (r *Runner) hookBefore(ctx context.Context, level *hookLevel, hook scenarios.Hook) *results.Failure {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}
	if err := r.journalHook(level, results.HookStarted, results.HookRecord{Name: hook.Name, When: "before"}, hook); err != nil {
		return results.AsFailure(err, results.FailDisk)
	}
	if len(hook.Undo) > 0 {
		level.open = append(level.open, hook)
	}
	record := r.runHook(ctx, level, hook, "before")
	if err := r.journalHook(level, results.HookFinished, record, hook); err != nil {
		return results.AsFailure(err, results.FailDisk)
	}
	return r.judgeHook(ctx, level, record, hook.Refuse)
}

// hooksAfter runs the hooks after a level that was entered, and in any case
// undoes what was changed for it, the last change first. What cannot be
// written into the journal has no one left to tell: the run is at its end, or
// its next event will say so.
func (r *Runner) hooksAfter(ctx context.Context, level *hookLevel, hooks []scenarios.Hook) {
	delete(r.hooks.levels, level.name)
	if level.entered {
		for _, hook := range hooks {
			record := r.runHook(ctx, level, hook, "after")
			_ = r.journalHook(level, results.HookFinished, record, hook)
			_ = r.judgeHook(ctx, level, record, false)
		}
	}
	for _, hook := range slices.Backward(level.open) {
		record := r.Hooks.Undo(ctx, hook, level.phase("undo"))
		record.Level, record.When, record.Name = level.name, "undo", hook.Name
		_ = r.journalHook(level, results.HookUndone, record, hook)
		if _ = r.judgeHook(ctx, level, record, false); !record.OK {
			r.hooks.doubts = append(r.hooks.doubts, hookWarning(record))
		}
	}
}

func (r *Runner) runHook(ctx context.Context, level *hookLevel, hook scenarios.Hook, when string) results.HookRecord {
	r.Live.Enter(results.LiveHooks, hook.Timeout, when+" the "+level.name+": "+hook.Name)
	record := r.Hooks.Run(ctx, hook, level.phase(when))
	record.Level, record.When, record.Name = level.name, when, hook.Name
	return record
}

// phase is the level's variables at one moment.
func (l *hookLevel) phase(when string) map[string]string {
	vars := maps.Clone(l.vars)
	vars["BENCH_PHASE"] = when
	return vars
}

// journalHook writes an event about a hook, with its undo where it has one
// and the folder that the undo is to run in.
func (r *Runner) journalHook(level *hookLevel, kind results.EventKind, record results.HookRecord, hook scenarios.Hook) error {
	e := level.event
	record.Level = level.name
	e.Kind, e.Hook = kind, &record
	hide := recipe.Redactor(r.Scenario.Secrets)
	record.Name = hide(record.Name)
	if len(hook.Undo) > 0 {
		e.Message = r.Scenario.Dir
		for _, word := range hook.Undo {
			e.Undo = append(e.Undo, hide(word))
		}
	}
	return r.tell(e)
}

// judgeHook keeps a record, tells of it, and makes a failure of one that
// refuses and a warning of one that does not.
func (r *Runner) judgeHook(ctx context.Context, level *hookLevel, record results.HookRecord, refuse bool) *results.Failure {
	level.records = append(level.records, record)
	r.observe(status.Update{Kind: status.HookRan, Index: r.done, Step: results.StepRef{ID: level.event.Step}, Life: level.event.Life, Hook: &record})
	if record.When == "check" {
		_ = r.tell(results.Event{Kind: results.HookFinished, Hook: &record}) // the next event says so if the disk is full
	}
	switch {
	case record.OK:
		return nil
	case refuse && ctx.Err() != nil:
		return results.CauseOf(ctx)
	case refuse:
		return results.Failf(results.FailHook, "%s", hookText(record))
	case level.name == plan.LevelRun:
		r.hooks.doubts = append(r.hooks.doubts, hookWarning(record))
	case record.When != "undo": // a change that stays is a doubt of every step to come
		level.doubts = append(level.doubts, hookWarning(record))
	}
	return nil
}

func hookWarning(record results.HookRecord) results.Warning {
	return results.Warning{Code: results.WarnHook, Message: hookText(record)}
}

// hookText says which hook did not do what it should.
func hookText(record results.HookRecord) string {
	what := map[string]string{
		"check": "check", "undo": "undo of", "before": "hook before the " + record.Level, "after": "hook after the " + record.Level,
	}[record.When]
	if record.Level == plan.LevelVariant && record.When != "undo" {
		what = "hook " + record.When + " the server life"
	}
	return what + " " + record.Name + ": " + record.Message
}
