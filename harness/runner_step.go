package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// runStep runs one attempt of a step on servers that are up: prompts, warm-up,
// counters, the measured pass, counters, result. The error is about the
// record keeping; what goes wrong with the step is in the result.
func (r *Runner) runStep(ctx context.Context, life plan.Life, servers []step.Server, a attempt) (*results.Result, error) {
	r.observe(status.Update{Kind: status.StepBegun, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Life: life.ID})
	began := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: servers[0].Info().Life}
	if a.pass > 1 {
		began.Kind = results.PassStarted
	}
	if err := r.tell(began); err != nil {
		return nil, err
	}
	result := r.newResult(a)
	r.Live.BeginStep(a.StepRef, a.pass)
	skippable, leave := r.Control.skippable(ctx, "step "+a.ID)
	defer leave()
	stepCtx, cancel := r.stepContext(skippable, servers, a.used)
	defer cancel(nil)

	defer r.afterStep(ctx, a, servers, result)
	if refused := r.beforeStep(stepCtx, a, servers, result); refused != nil {
		step.Job{Servers: servers}.Complete(result, step.Pass{Failure: refused})
		return result, nil
	}
	job, err := r.job(stepCtx, servers, a, result)
	if err != nil {
		result.StartedAt = results.Now()
		job.Complete(result, step.Pass{Failure: step.FailureOf(stepCtx, err)})
		return result, nil
	}
	job.Watch, job.Live = r.observers(servers, a), r.Live
	step.Drive(stepCtx, job, result)
	if result.Failure != nil && result.Failure.Class == results.FailDisk {
		r.halt(result.Failure)
	}
	r.extrapolate(result)
	return result, nil
}

// stepContext ends when the step's deadline passes, of which a pass before may
// have used a part, or a server dies; its cause says which.
func (r *Runner) stepContext(ctx context.Context, servers []step.Server, used time.Duration) (context.Context, context.CancelCauseFunc) {
	timeout := context.CancelFunc(func() {})
	if d := r.Scenario.StepDeadline; d > 0 {
		ctx, timeout = context.WithTimeoutCause(ctx, d-used, results.Failf(results.FailDeadline, "the step's deadline of %s passed", d))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	for _, s := range servers {
		go func() {
			select {
			case <-s.Done():
				cancel(s.Failure())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func(cause error) { cancel(cause); timeout() }
}

// job makes the prompts of a step and says how to send them. Without an error
// the job's record file is open; Drive closes it.
func (r *Runner) job(ctx context.Context, servers []step.Server, a attempt, result *results.Result) (step.Job, error) {
	point, err := step.Sized(r.pointOf(a), servers[0], result)
	if err != nil {
		return step.Job{Servers: servers}, err
	}
	job := step.Job{
		Driver: r.Driver, Servers: servers, Percentiles: point.Percentiles, Goodput: point.Goodput, MinSuccess: point.MinSuccess,
		KeepText: point.KeepText, Stall: r.Scenario.Watchdog.Stall,
	}
	r.Live.Enter(results.LivePrompts, 0, "")
	set, warm, err := r.prompts(ctx, point, a.Asked.Seed, servers[0])
	if err != nil {
		return job, err
	}
	result.Asked.DatasetSHA256 = set.SHA256
	notes := set.Notes
	if point.Note != "" {
		notes = append(slices.Clone(notes), point.Note)
	}
	for _, note := range notes {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnDataset, Message: note})
	}
	job.Prompts, job.Warmups = step.LoadPrompts(set), step.LoadPrompts(warm)
	if a.pass > 1 {
		job.Prompts = step.Once(job.Prompts)
	}
	if err = r.lookAhead(servers, job.Prompts, point.MaxConcurrency, a, result); err != nil {
		return job, err
	}
	if job.Options, err = step.DriveOptions(point, r.Scenario.Variants, result.Step.Variant, servers); err != nil {
		return job, err
	}
	job.Options.Target.BaseURLs = step.Reachable(r.Scenario.Client, job.Options.Target.BaseURLs)
	if err := r.askCache(ctx, point, servers, a, &job); err != nil {
		return job, err
	}
	counter, err := r.tokenizers.For(point.Dataset.Tokenizer, servers[0])
	if err != nil {
		return job, err
	}
	job.Options.CountTokens = counter.Count()
	if counter.Local {
		job.CountText = counter.Count()
	}
	if result.Asked.Body, err = load.ExampleBody(job.Options, job.Prompts[0]); err != nil {
		return job, err
	}
	if err := step.ScheduleOf(point).Apply(&job.Options, &result.Asked, set); err != nil {
		return job, results.Failf(results.FailDataset, "%v", err)
	}
	result.Asked.Tokenizer = counter.Name
	job.Options.Progress = func(p load.Progress) {
		r.observe(status.Update{Kind: status.StepProgress, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Progress: p})
	}
	job.Records, err = store.NewRecordWriter(r.dirOf(a), 0)
	if err != nil {
		return job, results.Failf(results.FailDisk, "%v", err)
	}
	return job, nil
}

// lookAhead is preflight, of which watchers are told before the step runs.
func (r *Runner) lookAhead(servers []step.Server, prompts []load.Prompt, concurrency int, a attempt, result *results.Result) error {
	before := len(result.Warnings)
	err := step.Preflight(servers, prompts, concurrency, result)
	for _, w := range result.Warnings[before:] {
		r.observe(status.Update{Kind: status.StepDoubt, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Message: w.Message})
	}
	return err
}

// prompts makes the measured prompts and the warm-ups of a step. Warm-up
// prompts are never measured ones: those would be warm in a prefix cache.
func (r *Runner) prompts(ctx context.Context, l scenarios.Load, seed uint64, server step.Server) (measured, warm *dataset.Set, err error) {
	if r.sets == nil {
		r.sets = step.PromptCache{}
	}
	counter, err := r.tokenizers.For(l.Dataset.Tokenizer, server)
	if err != nil {
		return nil, nil, err
	}
	if measured, err = r.promptSet(ctx, plan.PromptSpec(l, seed, l.NumPrompts), counter); err != nil {
		return nil, nil, err
	}
	if err = r.freeze(plan.PromptsName, measured, plan.PromptSpec(l, seed, l.NumPrompts), counter); err != nil || l.Warmups == 0 {
		return measured, &dataset.Set{}, err
	}
	spec := plan.PromptSpec(l, seed+plan.WarmupSeed, plan.WarmupCount(l))
	if warm, err = r.promptSet(ctx, spec, counter); err != nil {
		return nil, nil, err
	}
	if err = r.freeze(plan.WarmupsName, warm, spec, counter); err != nil {
		return nil, nil, err
	}
	warm = step.Without(warm, measured)
	warm.Prompts = warm.Prompts[:min(len(warm.Prompts), l.Warmups)]
	return measured, warm, nil
}

// freeze stores a set in a folder of the run, once: kind frozen reads it back.
func (r *Runner) freeze(folder string, set *dataset.Set, spec dataset.Spec, c step.TokenCounter) error {
	if r.frozen == nil {
		r.frozen = map[string]bool{}
	}
	if r.frozen[set.SHA256] {
		return nil
	}
	var file bytes.Buffer
	meta := dataset.Meta{Spec: spec, Tokenizer: c.Name, TokenizerSHA256: c.SHA256}
	if err := dataset.Write(&file, set, meta); err != nil {
		return results.Failf(results.FailDataset, "%v", err)
	}
	if err := r.Folder.WriteFile(folder+"/"+set.SHA256+".jsonl", file.Bytes()); err != nil {
		return results.Failf(results.FailDisk, "%v", err)
	}
	r.frozen[set.SHA256] = true
	return nil
}

func (r *Runner) promptSet(ctx context.Context, spec dataset.Spec, c step.TokenCounter) (*dataset.Set, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("make prompts: %w", err)
	}
	name := string(key) + " " + c.Name + " " + c.SHA256
	if set, ok := r.sets[name]; ok {
		return set, nil
	}
	from, _ := r.Plan.FrozenPrompts.Find(spec, c.Name)
	set, err := dataset.Build(ctx, from, c.Tokenizer)
	if err != nil {
		return nil, results.Failf(results.FailDataset, "%v", err)
	}
	r.sets[name] = set
	return set, nil
}

// askCache brings the servers' prefix caches into the state that a point asks
// for, by what their kind has, and says what it did.
func (r *Runner) askCache(ctx context.Context, point scenarios.Load, servers []step.Server, a attempt, job *step.Job) error {
	if r.sent == nil {
		r.sent = step.NewSentTo()
	}
	first, distinct := r.sent.Add(job.Prompts)
	kind, _ := engines.Lookup(servers[0].Info().Launcher)
	body := job.Options.Target.Body
	wish := step.CacheWish{Asked: point.PrefixCache, How: []string{}}
	if _, own := point.Body["cache_prompt"]; !own && (wish.Asked == scenarios.CacheWarm || wish.Asked == scenarios.CacheAny) {
		delete(body, "cache_prompt") // the engine's own way
	}
	switch wish.Asked {
	case scenarios.CacheWarm:
		job.Warmups = slices.Concat(job.Warmups, step.Once(job.Prompts))
		wish.How = append(wish.How, step.CacheSentOnce)
	case scenarios.CacheCold:
		if first && !kind.External {
			wish.How = append(wish.How, step.CacheNewServer)
		}
		if distinct {
			wish.How = append(wish.How, step.CacheDistinct)
		}
		if off, ok := body["cache_prompt"].(bool); ok && !off {
			wish.How = append(wish.How, step.CachePromptOff)
		}
		if len(wish.How) == 0 {
			wish.How = r.forget(ctx, kind, servers, a, body)
		}
	case scenarios.CacheAny:
	}
	job.Cache = wish
	return step.FailureIfEnded(ctx)
}

// forget keeps what the servers have cached from being found: by a salt that
// only this step's requests carry, else by a reset. Nil: neither worked.
func (r *Runner) forget(ctx context.Context, kind engines.Kind, servers []step.Server, a attempt, body map[string]any) []string {
	if kind.CacheSalt {
		body["cache_salt"] = fmt.Sprintf("%s/%s/%d", r.RunID, a.ID, a.Attempt)
		return []string{step.CacheSalt}
	}
	if kind.External {
		return []string{} // not ours to reset
	}
	for _, s := range servers {
		resetter, ok := s.(step.CacheResetter)
		if !ok {
			return []string{}
		}
		if _, err := resetter.ResetCache(ctx); err != nil {
			return []string{}
		}
	}
	return []string{step.CacheReset}
}

// newResult is the result of an attempt before anything is known of it.
func (r *Runner) newResult(a attempt) *results.Result {
	ref := a.StepRef
	result := &results.Result{
		Format: results.FormatVersion, Bench: r.Version, Scenario: r.Scenario.Name, Run: r.RunID, Node: r.Node, Step: ref,
		StartedAt: results.Now(), Asked: a.Asked, Earlier: a.earlier, Changes: r.changesOf(ref.Variant),
	}
	if len(result.Changes) > 0 {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnChanged, Message: strings.Join(result.Changes, "; ")})
	}
	for _, v := range r.Scenario.Variants {
		if v.Name == ref.Variant {
			result.Params = maps.Clone(v.Params)
			kind, _ := engines.Lookup(v.Server.Launcher)
			result.Simulated = kind.Simulated
		}
	}
	return result
}

// priced adds to a step what it cost, where the scenario has a price.
func (r *Runner) priced(result *results.Result) {
	for _, v := range r.Scenario.Variants {
		if v.Name == result.Step.Variant {
			result.Cost = catalog.CostOf(result, plan.PriceOf(r.Scenario, v))
		}
	}
}
