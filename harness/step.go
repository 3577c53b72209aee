package harness

import (
	"context"
	"maps"

	"benchrig/dataset/prng"
	"benchrig/launchers"
	"benchrig/load"
	"benchrig/results"
	"benchrig/scenarios"
)

// runStep runs one attempt of a step on servers that are up: prompts, warm-up,
// counters, the measured pass, counters, result. The error is about the
// record keeping; what goes wrong with the step is in the result.
func (r *Runner) runStep(ctx context.Context, life Life, servers []Server, a attempt) (*results.Result, error) {
	r.observe(Update{Kind: StepBegun, Index: r.done + 1, Step: a.StepRef, Life: life.ID})
	if err := r.Journal.Append(results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: servers[0].Info().Life}); err != nil {
		return nil, err
	}
	result := r.newResult(a)
	point := r.Scenario.Points[a.point]
	stepCtx, cancel := r.stepContext(ctx, servers)
	defer cancel(nil)

	job, err := r.job(stepCtx, point, servers, a, result)
	if err != nil {
		result.StartedAt = now()
		job.complete(result, pass{failure: failureOf(stepCtx, err)})
		return result, nil
	}
	Drive(stepCtx, job, result)
	if result.Failure != nil && result.Failure.Class == results.FailDisk {
		r.halted = result.Failure
	}
	return result, nil
}

// stepContext ends when the step's deadline passes or a server dies; its
// cause says which.
func (r *Runner) stepContext(ctx context.Context, servers []Server) (context.Context, context.CancelCauseFunc) {
	timeout := context.CancelFunc(func() {})
	if d := r.Scenario.StepDeadline; d > 0 {
		ctx, timeout = context.WithTimeoutCause(ctx, d, results.Failf(results.FailDeadline, "the step's deadline of %s passed", d))
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
func (r *Runner) job(ctx context.Context, point scenarios.Load, servers []Server, a attempt, result *results.Result) (LoadJob, error) {
	job := LoadJob{Driver: r.Driver, Servers: servers, Percentiles: point.Percentiles, Goodput: point.Goodput, MinSuccess: point.MinSuccess}
	set, warm, err := r.prompts(ctx, point, a.Asked.Seed, servers[0])
	if err != nil {
		return job, err
	}
	result.Asked.DatasetSHA256 = set.SHA256
	for _, note := range set.Notes {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnDataset, Message: note})
	}
	job.Prompts, job.Warmups = toLoad(set), toLoad(warm)
	job.Options = driveOptions(point, r.Scenario.Variants, result.Step.Variant, servers)
	if result.Asked.Body, err = load.ExampleBody(job.Options, job.Prompts[0]); err != nil {
		return job, err
	}
	job.Options.Arrivals = load.Arrivals(len(job.Prompts), point.RequestRate, point.Burstiness, prng.NewNumpy(uint32(a.Asked.Seed)))
	job.Options.Progress = func(p load.Progress) {
		r.observe(Update{Kind: StepProgress, Index: r.done + 1, Step: a.StepRef, Progress: p})
	}
	job.Records, err = r.Folder.RecordWriter(a.ID)
	if err != nil {
		return job, results.Failf(results.FailDisk, "%v", err)
	}
	return job, nil
}

// driveOptions is the load point as the client takes it, without arrivals.
func driveOptions(l scenarios.Load, variants []scenarios.Variant, variant string, servers []Server) load.Options {
	info := servers[0].Info()
	kind, _ := launchers.Lookup(info.Launcher)
	body := maps.Clone(kind.Body)
	if body == nil {
		body = map[string]any{}
	}
	maps.Copy(body, l.Body)
	opts := load.Options{
		Target:         load.Target{Path: l.Endpoint, API: l.API, Model: info.Model, Body: body, Headers: map[string]string{}},
		MaxConcurrency: l.MaxConcurrency, IgnoreEOS: l.IgnoreEOS, Temperature: l.Temperature, KeepText: l.KeepText,
		Timeouts: load.Timeouts(l.Timeouts), CountTokens: tokenCounter(kind, servers[0]),
	}
	for _, s := range servers {
		opts.Target.BaseURLs = append(opts.Target.BaseURLs, s.Info().BaseURL)
	}
	for _, v := range variants {
		if v.Name == variant && v.Server.APIKey.Value != "" {
			opts.Target.Headers["Authorization"] = "Bearer " + v.Server.APIKey.Value
		}
	}
	for name, value := range l.Headers {
		opts.Target.Headers[name] = value.Value
	}
	return opts
}

// tokenCounter counts the tokens of answers whose server gave no usage.
func tokenCounter(kind launchers.Kind, s Server) func(context.Context, string) (int, error) {
	if kind.TokenizePath == "" {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		ids, err := s.Tokenize(ctx, text, false)
		return len(ids), err
	}
}
