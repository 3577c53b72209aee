package harness

import (
	"context"
	"errors"
	"maps"

	"benchrig/dataset/prng"
	"benchrig/launchers"
	"benchrig/load"
	"benchrig/results"
	"benchrig/scenarios"
)

// pass is one drive of the load client and all that it left.
type pass struct {
	records  []results.Record
	client   *results.ClientReport
	counters []map[string]float64 // change of each server's counters
	failure  *results.Failure     // why it ended early; nil: it did not
}

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

	measured, err := r.measure(stepCtx, point, servers, a, result)
	if err != nil {
		measured.failure = asFailure(err, results.FailInternal)
	}
	if stepCtx.Err() != nil {
		measured.failure = causeOf(stepCtx)
	}
	if measured.failure != nil && measured.failure.Class == results.FailDisk {
		r.halted = measured.failure
	}
	r.complete(result, point, servers, measured)
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

// measure drives the warm-up and the measured pass. What was measured before
// an error is kept.
func (r *Runner) measure(ctx context.Context, point scenarios.Load, servers []Server, a attempt, result *results.Result) (pass, error) {
	set, warm, err := r.prompts(ctx, point, a.Asked.Seed, servers[0])
	if err != nil {
		return pass{}, err
	}
	result.Asked.DatasetSHA256 = set.SHA256
	for _, note := range set.Notes {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnDataset, Message: note})
	}
	prompts := toLoad(set)
	opts := driveOptions(point, r.Scenario.Variants, result.Step.Variant, servers)
	if result.Asked.Body, err = load.ExampleBody(opts, prompts[0]); err != nil {
		return pass{}, err
	}
	if err := r.warmUp(ctx, opts, toLoad(warm)); err != nil {
		return pass{}, err
	}
	opts.Arrivals = load.Arrivals(len(prompts), point.RequestRate, point.Burstiness, prng.NewNumpy(uint32(a.Asked.Seed)))
	opts.Progress = func(p load.Progress) {
		r.observe(Update{Kind: StepProgress, Index: r.done + 1, Step: a.StepRef, Progress: p})
	}
	before := counters(ctx, servers)
	out, err := r.drive(ctx, opts, prompts, a.ID)
	out.counters = changes(before, settledCounters(ctx, servers, before, out.records))
	return out, err
}

// drive runs the measured pass and stores each record as it comes.
func (r *Runner) drive(ctx context.Context, opts load.Options, prompts []load.Prompt, stepID string) (out pass, err error) {
	writer, err := r.Folder.RecordWriter(stepID)
	if err != nil {
		return out, results.Failf(results.FailDisk, "%v", err)
	}
	emit := func(rec results.Record) error {
		out.records = append(out.records, rec)
		if err := writer.Write(rec); err != nil {
			return results.Failf(results.FailDisk, "%v", err)
		}
		return nil
	}
	client, err := r.Driver.Run(ctx, opts, prompts, emit)
	out.client = &client
	if closeErr := writer.Close(); closeErr != nil {
		err = errors.Join(err, results.Failf(results.FailDisk, "%v", closeErr))
	}
	if ctx.Err() != nil {
		return out, causeOf(ctx)
	}
	return out, err
}

// warmUp sends prompts that are not measured. It fails only if none succeeds.
func (r *Runner) warmUp(ctx context.Context, opts load.Options, prompts []load.Prompt) error {
	if len(prompts) == 0 {
		return nil
	}
	var last *results.Failure
	succeeded := 0
	opts.Arrivals = make([]float64, len(prompts))
	_, err := r.Driver.Run(ctx, opts, prompts, func(rec results.Record) error {
		if rec.Failure == nil {
			succeeded++
		} else {
			last = rec.Failure
		}
		return nil
	})
	if err == nil && succeeded == 0 && last != nil {
		return results.Failf(results.FailRequests, "warm-up: all %d requests failed, the last with %s: %s", len(prompts), last.Class, last.Message)
	}
	return err
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
