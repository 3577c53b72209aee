package step

import (
	"context"
	"maps"
	"math"
	"time"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Probes are the requests that are sent beside a pass. The zero value: none.
type Probes struct {
	prompts  []load.Prompt // round and round
	arrivals []float64     // seconds from the start of the pass; far more than it needs
}

const (
	probePrompts = 256            // different ones
	probeSeed    = 3_000_017      // from the seed of the measured prompts
	probeHorizon = 48 * time.Hour // a pass lasts shorter
	mostProbes   = 2_500_000      // seven hours at the highest rate
	mostAtOnce   = 1024           // probes in flight: a server that answers none gets no more
	probePrefix  = "bench-probe-" // of their request ids
	vllmProbe    = "Hi"           // the prompt of vLLM's client
)

// NewProbes makes probes with these prompts, which leave as a Poisson process. None: the
// prompt of vLLM's client.
func NewProbes(p spec.Probes, seed uint64, prompts []load.Prompt) (Probes, error) {
	if !p.Active() {
		return Probes{}, nil
	}
	if len(prompts) == 0 {
		prompts = []load.Prompt{{Text: vllmProbe, OutputTokens: p.OutputLen}}
	}
	horizon := math.Min(probeHorizon.Seconds(), mostProbes/p.RequestRate)
	arrivals, err := load.ArrivalsUntil(horizon, p.RequestRate, 1, (&dataset.Set{}).Arrivals(seed+probeSeed))
	return Probes{prompts: prompts, arrivals: arrivals}, err
}

// probesOf makes the probes of a load.
func (p *Preparer) probesOf(ctx context.Context, l scenarios.Load, seed uint64, c TokenCounter) (Probes, error) {
	if !l.Probes.Active() {
		return Probes{}, nil
	}
	order := plan.PromptSpec(scenarios.Load{
		Dataset: scenarios.Dataset{Kind: "random"}, InputLen: l.Probes.InputLen, OutputLen: l.Probes.OutputLen,
	}, seed+probeSeed, probePrompts)
	set, err := p.source.set(ctx, order, c)
	if err != nil {
		return Probes{}, err
	}
	return NewProbes(l.Probes, seed, LoadPrompts(set))
}

// startProbes has probes sent from the moment when the pass of main begins. end has no
// more sent, waits for the answers under way, and returns the records of all.
func (j Job) startProbes(ctx context.Context, main *load.Options) (end func() ([]results.Record, error)) {
	if len(j.Probes.arrivals) == 0 {
		return func() ([]results.Record, error) { return nil, nil }
	}

	zero, stop, done := make(chan time.Time, 1), make(chan struct{}), make(chan error, 1)
	started := main.Started
	main.Started = func(at time.Time) {
		zero <- at
		started(at)
	}

	opts := j.afterPass(nil, probePrefix)
	opts.Arrivals, opts.Repeat, opts.MaxConcurrency, opts.Stop = j.Probes.arrivals, true, mostAtOnce, stop
	opts.Classes, opts.Adapters, opts.Stages, opts.KeepText = nil, nil, nil, false
	opts.Body = probeBody(opts.Body, opts.Probes)
	opts.Start = func(ctx context.Context) (time.Time, error) {
		select {
		case at := <-zero:
			return at, nil
		case <-stop: // it never began
		case <-ctx.Done():
		}
		return time.Now(), context.Canceled
	}

	var records []results.Record
	go func() {
		var err error
		records, err = j.drain(ctx, opts, j.Probes.prompts)
		for i := range records {
			records[i].Probe = true
		}
		done <- err
	}()
	return func() ([]results.Record, error) {
		close(stop)
		err := <-done
		return records, err
	}
}

// probeBody is the body of the load's requests with the priority of the probes.
func probeBody(body map[string]any, p spec.Probes) map[string]any {
	out := map[string]any{}
	maps.Copy(out, body)
	delete(out, "priority")
	if p.Priority != nil {
		out["priority"] = *p.Priority
	}
	return out
}
