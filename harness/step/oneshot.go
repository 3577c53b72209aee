package step

import (
	"context"
	"maps"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// OneShot is one load point on one server that is up already, outside of a
// run: nothing is launched, recorded in a folder, or done about prefix caches.
type OneShot struct {
	Driver  Driver
	Server  Server
	Counter TokenCounter // see Counter
	Load    scenarios.Load
	Seed    uint64            // of prompts and arrivals
	Headers map[string]string // beside the load's own
	Body    map[string]any    // fields that the server's kind wants, beneath the load's own

	// WarmupOutput bounds the answers of the load's warm-ups, in tokens; 0: as
	// long as measured ones.
	WarmupOutput int
}

// Job makes the prompts and says how to send them. The result is as it stands
// before anything was measured; Drive completes it.
func (s OneShot) Job(ctx context.Context) (Job, *results.Result, error) {
	l := s.Load
	job := Job{
		Driver: s.Driver, Servers: []Server{s.Server}, Percentiles: l.Percentiles, Goodput: l.Goodput,
		MinSuccess: l.MinSuccess, KeepText: l.KeepText,
	}
	result := &results.Result{
		Format: results.FormatVersion, Asked: plan.AskedOf(l, s.Seed),
		Step: results.StepRef{ID: l.Label, Variant: s.Server.Info().Model, Point: l.Label, Repeat: 1, Attempt: 1},
	}
	measured, warm, err := s.prompts(ctx)
	if err != nil {
		return job, result, err
	}
	job.Prompts, job.Warmups = LoadPrompts(measured), LoadPrompts(warm)
	result.Asked.DatasetSHA256, result.Asked.Tokenizer = measured.SHA256, s.Counter.Name
	for _, note := range measured.Notes {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnDataset, Message: note})
	}
	if job.Options, err = s.options(); err != nil {
		return job, result, err
	}
	if s.Counter.Local {
		job.CountText = s.Counter.Count()
	}
	if result.Asked.Body, err = load.ExampleBody(job.Options, job.Prompts[0]); err != nil {
		return job, result, err
	}
	return job, result, ScheduleOf(l).Apply(&job.Options, &result.Asked, measured)
}

func (s OneShot) prompts(ctx context.Context) (measured, warm *dataset.Set, err error) {
	l := s.Load
	if measured, err = dataset.Build(ctx, plan.PromptSpec(l, s.Seed, l.NumPrompts), s.Counter.Tokenizer); err != nil {
		return nil, nil, results.Failf(results.FailDataset, "%v", err)
	}
	if l.Warmups == 0 {
		return measured, &dataset.Set{}, nil
	}
	if warm, err = dataset.Build(ctx, plan.PromptSpec(l, s.Seed+plan.WarmupSeed, l.Warmups), s.Counter.Tokenizer); err != nil {
		return nil, nil, results.Failf(results.FailDataset, "%v", err)
	}
	warm = Without(warm, measured)
	for i := range warm.Prompts {
		if p := &warm.Prompts[i]; s.WarmupOutput > 0 && (p.OutputTokens == 0 || p.OutputTokens > s.WarmupOutput) {
			p.OutputTokens = s.WarmupOutput
		}
	}
	return measured, warm, nil
}

func (s OneShot) options() (load.Options, error) {
	opts, err := DriveOptions(s.Load, nil, "", []Server{s.Server})
	if err != nil {
		return opts, err
	}
	body := maps.Clone(s.Body)
	if body == nil {
		body = map[string]any{}
	}
	maps.Copy(body, opts.Target.Body)
	opts.Target.Body = body
	maps.Copy(opts.Target.Headers, s.Headers)
	opts.CountTokens = s.Counter.Count()
	return opts, nil
}
