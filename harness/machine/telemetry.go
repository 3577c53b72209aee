package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Telemetry gives harness readings of GPUs and host by package gpu.
type Telemetry struct {
	samplers []device.Sampler
	period   time.Duration // 0: each sampler's own
	watcher  *gpu.Watcher
}

// OpenTelemetry opens the samplers that the scenario asks for, and notes what
// they cannot read. A sampler that is asked for by name and does not work is an
// error. The caller closes it.
func (p Process) OpenTelemetry(
	ctx context.Context, wish scenarios.Telemetry, machine gpu.Inventory,
) (*Telemetry, error) {
	options := p.GPUOptions()
	t := &Telemetry{period: wish.Period, watcher: gpu.NewWatcher(options, machine)}
	if wish.Off {
		return t, nil
	}
	samplers, notes, err := gpu.Samplers(ctx, options, machine, wish.Sampler)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("telemetry: %w", err), t.watcher.Close())
	}
	for _, note := range notes {
		fmt.Fprintf(p.Stderr, "note: %s\n", note)
	}
	t.samplers = samplers
	return t, nil
}

// Watcher reads which processes hold memory of the GPUs, and how much.
func (t *Telemetry) Watcher() *gpu.Watcher { return t.watcher }

// Close ends the reading.
func (t *Telemetry) Close() error {
	errs := []error{t.watcher.Close()}
	for _, s := range t.samplers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Start begins to read GPUs and host.
func (t *Telemetry) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) telemetry.Sampling {
	s := sampling{&gpu.Recorder{Samplers: t.samplers, Period: t.period, Host: true}}
	s.recorder.Start(ctx, func(sample gpu.Sample) {
		emit(sample.At, results.TelemetrySample{GPU: sample.GPU, Host: sample.Host, Gap: sample.Gap})
	})
	return s
}

// Holders are the processes that hold memory of GPUs.
func (t *Telemetry) Holders(ctx context.Context) ([]results.GPUHolder, error) {
	return t.watcher.Holders(ctx)
}

// sampling is a recording in progress.
type sampling struct{ recorder *gpu.Recorder }

func (s sampling) Stop() telemetry.SamplingCost {
	cost := s.recorder.Stop()
	out := telemetry.SamplingCost{CPUShare: cost.CPU}
	for _, source := range cost.Sources {
		if slices.ContainsFunc(s.recorder.Samplers,
			func(sampler device.Sampler) bool { return sampler.Name() == source.Name }) {
			out.Samplers = append(out.Samplers, source.Name)
			out.Period = max(out.Period, time.Duration(source.PeriodS*float64(time.Second)))
		}
	}
	return out
}
