package harness

import (
	"context"
	"time"

	"github.com/benchrig/bench/results"
)

// staleGPU is the age from which on a reading of a GPU would pass for the
// present.
const staleGPU = 15 * time.Second

// gpu takes in a reading.
func (l *Live) gpu(g *results.GPUReading) {
	if l == nil {
		return
	}
	at := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gpus[g.Device] = gpuAt{*g, at}
}

// fillGPUs tells the last readings in the order of the devices. Where a GPU
// gave none lately, its values are null. The caller holds the mutex.
func (l *Live) fillGPUs(now *results.Live, at time.Time) {
	now.GPUs = []results.LiveGPU{}
	for _, d := range l.Devices {
		one := results.LiveGPU{Index: d.Index, Name: d.Name, VRAMTotal: d.VRAMBytes}
		if g, read := l.gpus[d.ID()]; read {
			if one.AgeS = at.Sub(g.at).Seconds(); at.Sub(g.at) < staleGPU {
				one.VRAMUsed, one.PowerW, one.PowerLimitW = g.VRAMUsedBytes, g.PowerW, g.PowerLimitW
				one.Busy, one.HottestC, one.Throttle = g.Busy, hottestOf(g.GPUReading), g.Throttle
			}
		}
		now.GPUs = append(now.GPUs, one)
	}
}

// watchLaunch reads GPUs while nothing is measured and a server starts, for
// whoever watches: that memory fills is a sign of life. The function that it
// gives ends it.
func (r *Runner) watchLaunch(ctx context.Context) (end func()) {
	if r.Live == nil || !r.watches() || len(r.Box.Devices) == 0 {
		return func() {}
	}
	sampling := r.Telemetry.Start(ctx, func(time.Time, results.TelemetrySample) {}) // Live is told on the way
	return func() { sampling.Stop() }
}

// liveTelemetry also tells Live what is read.
type liveTelemetry struct {
	Telemetry
	live *Live
}

// reads gives a Telemetry that also tells l; without l, t itself.
func (l *Live) reads(t Telemetry) Telemetry {
	if l == nil || t == nil {
		return t
	}
	return liveTelemetry{t, l}
}

func (t liveTelemetry) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) Sampling {
	return t.Telemetry.Start(ctx, func(at time.Time, s results.TelemetrySample) {
		if s.GPU != nil {
			t.live.gpu(s.GPU)
		}
		emit(at, s)
	})
}
