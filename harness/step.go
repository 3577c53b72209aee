package harness

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// runStep runs one attempt of a step on servers that are up: prompts, warm-up,
// counters, the measured pass, counters, result. The error is about the
// record keeping; what goes wrong with the step is in the result.
func (r *Runner) runStep(ctx context.Context, life plan.Life, servers []Server, a attempt) (*results.Result, error) {
	r.observe(Update{Kind: StepBegun, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Life: life.ID})
	began := results.Event{Kind: results.StepStarted, Step: a.ID, Attempt: a.Attempt, Life: servers[0].Info().Life}
	if a.pass > 1 {
		began.Kind = results.PassStarted
	}
	if err := r.tell(began); err != nil {
		return nil, err
	}
	result := r.newResult(a)
	r.Live.beginStep(a.StepRef, a.pass)
	skippable, leave := r.Control.skippable(ctx, "step "+a.ID)
	defer leave()
	stepCtx, cancel := r.stepContext(skippable, servers, a.used)
	defer cancel(nil)

	defer r.afterStep(ctx, a, servers, result)
	if refused := r.beforeStep(stepCtx, a, servers, result); refused != nil {
		LoadJob{Servers: servers}.complete(result, pass{failure: refused})
		return result, nil
	}
	job, err := r.job(stepCtx, servers, a, result)
	if err != nil {
		result.StartedAt = now()
		job.complete(result, pass{failure: failureOf(stepCtx, err)})
		return result, nil
	}
	job.Watch, job.Live = r.observers(servers, a), r.Live
	Drive(stepCtx, job, result)
	if result.Failure != nil && result.Failure.Class == results.FailDisk {
		r.halted = result.Failure
	}
	r.extrapolate(result)
	return result, nil
}

// stepContext ends when the step's deadline passes, of which a pass before may
// have used a part, or a server dies; its cause says which.
func (r *Runner) stepContext(ctx context.Context, servers []Server, used time.Duration) (context.Context, context.CancelCauseFunc) {
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
func (r *Runner) job(ctx context.Context, servers []Server, a attempt, result *results.Result) (LoadJob, error) {
	point, err := sized(r.pointOf(a), servers[0], result)
	if err != nil {
		return LoadJob{Servers: servers}, err
	}
	job := LoadJob{
		Driver: r.Driver, Servers: servers, Percentiles: point.Percentiles, Goodput: point.Goodput, MinSuccess: point.MinSuccess,
		KeepText: point.KeepText, Stall: r.Scenario.Watchdog.Stall,
	}
	r.Live.enter(results.LivePrompts, 0, "")
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
	job.Prompts, job.Warmups = LoadPrompts(set), LoadPrompts(warm)
	if a.pass > 1 {
		job.Prompts = once(job.Prompts)
	}
	if err = r.lookAhead(servers, job.Prompts, point.MaxConcurrency, a, result); err != nil {
		return job, err
	}
	if job.Options, err = driveOptions(point, r.Scenario.Variants, result.Step.Variant, servers); err != nil {
		return job, err
	}
	job.Options.Target.BaseURLs = reachable(r.Scenario.Client, job.Options.Target.BaseURLs)
	if err := r.askCache(ctx, point, servers, a, &job); err != nil {
		return job, err
	}
	counter, err := r.counter(point.Dataset.Tokenizer, servers[0])
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
	if err := scheduleOf(point).Apply(&job.Options, &result.Asked, set); err != nil {
		return job, results.Failf(results.FailDataset, "%v", err)
	}
	result.Asked.Tokenizer = counter.Name
	job.Options.Progress = func(p load.Progress) {
		r.observe(Update{Kind: StepProgress, Index: r.done + 1, Step: a.StepRef, Pass: a.pass, Progress: p})
	}
	job.Records, err = results.NewRecordWriter(r.dirOf(a), 0)
	if err != nil {
		return job, results.Failf(results.FailDisk, "%v", err)
	}
	return job, nil
}

// driveOptions is the load point as the client takes it, without arrivals.
func driveOptions(l scenarios.Load, variants []scenarios.Variant, variant string, servers []Server) (load.Options, error) {
	info := servers[0].Info()
	kind, _ := engines.Lookup(info.Launcher)
	body := maps.Clone(kind.Body)
	if body == nil {
		body = map[string]any{}
	}
	maps.Copy(body, l.Body)
	opts := load.Options{
		Target:         load.Target{Path: l.Endpoint, API: l.API, Model: info.Model, Body: body, Headers: map[string]string{}},
		MaxConcurrency: l.MaxConcurrency, IgnoreEOS: l.IgnoreEOS, Sampling: sampling(l), KeepText: l.KeepText,
		Bodies: l.Compat, NoStream: !l.Stream, ThinkTime: l.ThinkTime, ReuseConnections: l.ReuseConnections,
		Timeouts: load.Timeouts{
			Connect: l.Timeouts.Connect, FirstToken: l.Timeouts.FirstToken, Stall: l.Timeouts.Stall, Total: l.Timeouts.Total,
		},
		DrainLimit: l.Timeouts.Drain, Transport: l.Transport,
	}
	for _, s := range servers {
		opts.Target.BaseURLs = append(opts.Target.BaseURLs, requestURL(s))
	}
	for _, v := range variants {
		if v.Name != variant {
			continue
		}
		if v.Server.APIKey.Value != "" {
			opts.Target.Headers["Authorization"] = "Bearer " + v.Server.APIKey.Value
		}
		opts.Target.UnixSocket = v.Server.UnixSocket
		var err error
		if opts.Target.TLS, opts.Target.CA, err = TLSConfig(v.Server.TLS.CA, v.Server.TLS.Insecure); err != nil {
			return opts, err
		}
	}
	for name, value := range l.Headers {
		opts.Target.Headers[name] = value.Value
	}
	return opts, nil
}

func sampling(l scenarios.Load) load.Sampling {
	s := load.Sampling{
		Temperature: l.Temperature, TopP: l.Sampling.TopP, TopK: l.Sampling.TopK, MinP: l.Sampling.MinP,
		FrequencyPenalty: l.Sampling.FrequencyPenalty, PresencePenalty: l.Sampling.PresencePenalty, RepetitionPenalty: l.Sampling.RepetitionPenalty,
	}
	if l.Sampling.Seed != nil {
		s.Seed = new(int64(*l.Sampling.Seed))
	}
	return s
}

// requestURL is where requests to a server go. The one in its description is
// for readers: a password in it is hidden.
func requestURL(s Server) string {
	if addressed, ok := s.(interface{ BaseURL() string }); ok {
		return addressed.BaseURL()
	}
	return s.Info().BaseURL
}
