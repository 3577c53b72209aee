package telemetry

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// keptBefore is how far back samples are kept that were read before second 0.
const keptBefore = 10 * time.Second

// watcher is the Observer of GPUs and host: it writes every sample of a step
// into its telemetry.jsonl, and makes figures and doubts of them.
type watcher struct {
	monitor   *Monitor
	devices   []device.Device // that the step uses
	dir       string          // of the step
	variant   string
	notes     []string // of which GPUs the servers see
	sampling  Sampling
	nodes     []*watchedNode            // other nodes of the servers
	endNodes  func()                    // ends their sampling; it returns when it has ended
	strangers *strangers                // nil: nobody looks for them
	seen      func(*results.GPUReading) // called with every reading; nil: nobody cares
	cost      SamplingCost
	lastedS   float64 // from Begin to End

	mu      sync.Mutex // guards what follows
	missing []string   // devices and other nodes that gave no reading yet
	ready   chan struct{}
	last    map[string]results.GPUReading
	early   []timedSample // before second 0 is known
	zero    time.Time
	file    *store.SampleWriter
	err     error // of the record keeping
	ended   bool
}

type timedSample struct {
	at time.Time
	results.TelemetrySample
}

func newWatcher(ids []string) *watcher {
	w := &watcher{
		missing: slices.Clone(ids), last: map[string]results.GPUReading{}, ready: make(chan struct{}),
		endNodes: func() {},
	}
	if len(ids) == 0 {
		close(w.ready)
	}
	return w
}

// take gets a sample.
func (w *watcher) take(at time.Time, s results.TelemetrySample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.Node != "":
		w.answered(s.Node)
	case s.GPU != nil:
		w.know(s.GPU)
	}
	w.early = append(w.early, timedSample{at, s})
	if w.zero.IsZero() {
		old := at.Add(-keptBefore)
		w.early = slices.DeleteFunc(w.early, func(e timedSample) bool { return e.at.Before(old) })
		return
	}
	w.write()
}

// know takes in a reading; the caller holds the mutex.
func (w *watcher) know(g *results.GPUReading) {
	w.last[g.Device] = *g
	if w.seen != nil {
		w.seen(g)
	}
	w.answered(g.Device)
}

// answered notes that a device or another node need no longer be waited for;
// the caller holds the mutex.
func (w *watcher) answered(id string) {
	if at := slices.Index(w.missing, id); at >= 0 {
		if w.missing = slices.Delete(w.missing, at, at+1); len(w.missing) == 0 {
			close(w.ready)
		}
	}
}

// write passes on what was kept; the caller holds the mutex and second 0 is
// known.
func (w *watcher) write() {
	for _, e := range w.early {
		e.AtS = e.at.Sub(w.zero).Seconds()
		if w.file != nil && w.err == nil {
			w.err = w.file.Write(e.TelemetrySample)
		}
	}
	w.early = w.early[:0]
}

// await waits until every device has been read once.
func (w *watcher) await(ctx context.Context, limit time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(limit):
	case <-w.ready:
	}
}

// complete reports whether every device has been read.
func (w *watcher) complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.missing) == 0
}

// latest is the last reading of each device.
func (w *watcher) latest() map[string]results.GPUReading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.last)
}

// open makes the file of the step.
func (w *watcher) open() {
	file, err := store.NewSampleWriter(w.dir, results.TelemetryName, 0)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file, w.err = file, err
}

// Begin learns of second 0. It costs the pass no time: what was read before is
// written with the next reading.
func (w *watcher) Begin(_ context.Context, zero time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.zero = zero
}

// End takes the last reading and closes the file. Telemetry never fails a
// step: what goes wrong here becomes a doubt.
func (w *watcher) End(*results.Result) error {
	lasted := time.Now()
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastedS = lasted.Sub(w.zero).Seconds()
	w.write()
	if w.file != nil {
		if err := w.file.Close(); w.err == nil {
			w.err = err
		}
	}
	return nil
}

func (w *watcher) stop() {
	if w.ended {
		return
	}
	w.ended = true
	w.cost = w.sampling.Stop()
	w.endNodes()
	if w.strangers != nil {
		w.strangers.end()
	}
}

// abandon ends a watcher whose pass never began.
func (w *watcher) abandon() {
	w.stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil && w.zero.IsZero() {
		_ = w.file.Discard() // there is nothing in it
	}
}

// Judge makes figures and doubts, when those of the pass are known.
func (w *watcher) Judge(result *results.Result) {
	to := w.lastedS // of a program, which has no client
	if result.Client != nil {
		to = result.Client.DurationS
	}

	in := telemetry.Watched{
		Devices: w.monitor.watchedDevices(w.devices,
			w.variant), Samplers: w.cost.Samplers, PeriodS: w.cost.Period.Seconds(),
		CPUShare: new(w.cost.CPUShare), ToS: to, Figures: result.Figures,
	}
	in.Nodes, in.Elsewhere = w.sampledNodes(result.Servers)

	t := telemetry.Summarize(w.samples, in)
	t.Notes = append(t.Notes, w.notes...)
	result.Telemetry = t
	if w.err != nil {
		result.Warnf(results.WarnTelemetryGaps, "readings are missing: %v", w.err)
	}

	w.monitor.warnOfTelemetry(result)
	if w.strangers != nil {
		w.monitor.warnOfStrangers(w.strangers.found(), result)
	}
}

// samples reads the file back: while the pass ran, nothing was kept in memory
// that the client would have felt.
func (w *watcher) samples(yield func(results.TelemetrySample) bool) {
	for s, err := range store.ReadTelemetry(w.dir) {
		if err != nil {
			w.err = err
			continue
		}
		if !yield(s) {
			return
		}
	}
}
