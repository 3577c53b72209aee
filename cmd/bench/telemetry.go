package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/harness"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// sysfsRootVariable names a folder that stands before /sys and /proc when bench
// looks for GPUs: for tests, and for replays of a machine that is not at hand.
const sysfsRootVariable = "BENCH_SYSFS_ROOT"

// gpuOptions say where to look for GPUs.
func gpuOptions(e env) gpu.Options {
	root, _ := e.lookup(sysfsRootVariable)
	return gpu.Options{Root: root}
}

// telemetry gives harness readings of GPUs and host by package gpu.
type telemetry struct {
	samplers []gpu.Sampler
	period   time.Duration // 0: each sampler's own
	watcher  *gpu.Watcher
}

// openTelemetry opens what the scenario wants GPUs to be read by, and tells
// what cannot be known. A sampler that is asked for and does not work is an
// error. The caller closes it.
func openTelemetry(ctx context.Context, e env, wish scenarios.Telemetry, box gpu.Inventory) (*telemetry, error) {
	options := gpuOptions(e)
	t := &telemetry{period: wish.Period, watcher: gpu.NewWatcher(options, box)}
	if wish.Off {
		return t, nil
	}
	samplers, notes, err := gpu.SamplersOf(ctx, options, box, wish.Sampler)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("telemetry: %w", err), t.watcher.Close())
	}
	for _, note := range notes {
		fmt.Fprintf(e.stderr, "note: %s\n", note)
	}
	t.samplers = samplers
	return t, nil
}

func (t *telemetry) Close() error {
	errs := []error{t.watcher.Close()}
	for _, s := range t.samplers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Start begins to read GPUs and host.
func (t *telemetry) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) harness.Sampling {
	s := sampling{&gpu.Recorder{Samplers: t.samplers, Period: t.period, Host: true}}
	s.recorder.Start(ctx, func(sample gpu.Sample) {
		emit(sample.At, results.TelemetrySample{GPU: sample.GPU, Host: sample.Host, Gap: sample.Gap})
	})
	return s
}

// Holders are the processes that hold memory of GPUs.
func (t *telemetry) Holders(ctx context.Context) ([]results.GPUHolder, error) {
	return t.watcher.Holders(ctx)
}

// sampling is a recording that goes on.
type sampling struct{ recorder *gpu.Recorder }

func (s sampling) Stop() harness.SamplingCost {
	cost := s.recorder.Stop()
	out := harness.SamplingCost{CPUShare: cost.CPU}
	for _, source := range cost.Sources {
		if slices.ContainsFunc(s.recorder.Samplers, func(sampler gpu.Sampler) bool { return sampler.Name() == source.Name }) {
			out.Samplers = append(out.Samplers, source.Name)
			out.Period = max(out.Period, time.Duration(source.PeriodS*float64(time.Second)))
		}
	}
	return out
}
