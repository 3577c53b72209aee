package step

import (
	"context"
	"maps"
	"time"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
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
	job := newJob(s.Driver, []Server{s.Server}, s.Load)
	result := &results.Result{
		Format: results.FormatVersion, Asked: plan.AskedOf(s.Load, s.Seed),
		Step: results.StepRef{
			ID: s.Load.Label, Variant: s.Server.Info().Model, Point: s.Load.Label, Repeat: 1,
			Attempt: 1,
		},
	}

	measured, warm, err := s.prompts(ctx)
	if err != nil {
		return job, result, err
	}

	job.SetPrompts(measured, LoadPrompts(warm), result)

	if job.Options, err = s.options(); err != nil {
		return job, result, err
	}

	return job, result, job.SetSending(scheduleOf(s.Load), measured, s.Counter, result)
}

func (s OneShot) prompts(ctx context.Context) (measured, warm *dataset.Set, err error) {
	l := s.Load
	if measured, err = dataset.Build(ctx, plan.PromptSpec(l, s.Seed, l.NumPrompts), s.Counter.Tokenizer); err != nil {
		return nil, nil, results.Failf(results.FailDataset, "%v", err)
	}
	if l.Warmups == 0 {
		return measured, &dataset.Set{}, nil
	}
	if warm, err = dataset.Build(ctx, plan.PromptSpec(l, s.Seed+plan.WarmupSeed, l.Warmups),
		s.Counter.Tokenizer); err != nil {
		return nil, nil, results.Failf(results.FailDataset, "%v", err)
	}

	warm = without(warm, measured)
	for i := range warm.Prompts {
		if p := &warm.Prompts[i]; s.WarmupOutput > 0 && (p.OutputTokens == 0 || p.OutputTokens > s.WarmupOutput) {
			p.OutputTokens = s.WarmupOutput
		}
	}

	return measured, warm, nil
}

func (s OneShot) options() (load.Options, error) {
	opts, err := driveOptions(s.Load, scenarios.Server{}, []Server{s.Server})
	if err != nil {
		return opts, err
	}
	body := maps.Clone(s.Body)
	if body == nil {
		body = map[string]any{}
	}
	maps.Copy(body, opts.Body)
	opts.Body = body
	for name, value := range s.Headers {
		spec.SetHeader(opts.Target.Headers, name, value)
	}
	return opts, nil
}

// oneShotLimit ends a pass without a scenario whose server sends without end.
const oneShotLimit = 24 * time.Hour

// DriveOneShot carries out a job as Drive does, within a limit of its own: there is
// no scenario that sets one.
func DriveOneShot(ctx context.Context, job Job, result *results.Result) []results.Record {
	ctx, free := awake.WithTimeoutCause(ctx, oneShotLimit, results.Failf(results.FailDeadline,
		"the load took longer than %s: send fewer prompts, or set a duration", oneShotLimit))
	defer free()
	return Drive(ctx, job, result)
}
