// Package telemetry samples GPUs and host beside the steps of a run.
//
// What goes in: a source of readings, the GPUs of the machine, what the scenario
// asks for. What comes out: telemetry.jsonl of each step, its figures, warnings
// about throttling, power limits and strangers, and the wait until GPUs are
// calm. It never fails a step and keeps no reading in memory.
package telemetry

import (
	"context"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Source reads GPUs and host beside a run.
type Source interface {
	// Start begins to read. emit gets every sample and when it was read, never
	// two at a time, and none after Stop. AtS of the samples is not set.
	Start(ctx context.Context, emit func(at time.Time, sample results.TelemetrySample)) Sampling
	// Holders are the processes that hold memory of GPUs.
	Holders(ctx context.Context) ([]results.GPUHolder, error)
}

// Sampling is a recording in progress.
type Sampling interface {
	// Stop takes a last reading and ends. It returns within seconds.
	Stop() SamplingCost
}

// NodeSource reads GPUs and host of other nodes.
type NodeSource interface {
	// Sample reads on a node until ctx ends, which is not an error; it then takes a
	// last reading. found gets the GPUs that the run may use there, once and first;
	// emit is as that of Source.
	Sample(ctx context.Context, node string, found func([]device.Device),
		emit func(at time.Time, sample results.TelemetrySample)) error
}

// SamplingCost is what a sampling was and took.
type SamplingCost struct {
	Samplers []string      // of GPUs
	Period   time.Duration // between readings of a GPU; the longest, where samplers differ
	CPUShare float64       // CPU seconds per second
}

// Monitor samples GPUs and host beside the steps of a run, and keeps what is
// known of the GPUs from one step to the next.
type Monitor struct {
	Source   Source     // nil: nothing is sampled
	Nodes    NodeSource // other nodes of servers; nil: they are not sampled
	Scenario *scenarios.Scenario
	Machine  plan.Machine
	Live     *status.Live        // gets every reading; nil: nobody does
	Observe  func(status.Update) // gets what is waited for

	// FirstLimits are the power limits of the GPUs, by device, as the run that is
	// resumed first knew them; nil: the run starts.
	FirstLimits func() map[string]float64

	idle   map[string]float64           // W by device, before the first server
	idleHz map[string]float64           // clock of the cores by device, as idle
	before map[string]map[string]atRest // by variant and device, before its first server
	limits map[string]float64           // power limit by device in the first step that knew it
	isSlow bool                         // a device gave no reading when it was waited for
	now    *watcher                     // of the step that runs
}

// atRest is what a GPU says when nothing of ours runs on it.
type atRest struct {
	telemetry.AtRest
	powerW *float64
	coreHz *float64
}

// Limits of waiting for readings.
const (
	restTime           = 2 * time.Second  // over which idle power is read
	firstReading       = 10 * time.Second // until a slow tool has answered
	muteWait           = time.Second      // the same for a tool that did not in time before
	settlePoll         = 500 * time.Millisecond
	settleReportPeriod = 5 * time.Second
)

// samples reports whether the run samples anything.
func (m *Monitor) samples() bool { return m.Source != nil && !m.Scenario.Telemetry.Off }

// ReadAtRest reads GPUs before the first server of a variant.
func (m *Monitor) ReadAtRest(ctx context.Context, life plan.Life) {
	if !m.samples() || len(m.Machine.Devices) == 0 || m.before[life.Variant] != nil {
		return
	}

	var ids []string
	for _, d := range m.Machine.Devices {
		ids = append(ids, d.ID())
	}

	at := time.Duration(0)
	if m.idle == nil {
		at = restTime
	}

	rest := m.readRest(ctx, ids, at)
	if m.idle == nil {
		m.idle, m.idleHz = map[string]float64{}, map[string]float64{}
		for id, d := range rest {
			if d.powerW != nil {
				m.idle[id] = *d.powerW
			}
			if d.coreHz != nil {
				m.idleHz[id] = *d.coreHz
			}
		}
	}

	kind := m.Scenario.Variants[life.VariantIndex].Server.Kind()
	if kind.External { // it runs already: what is in use is its own
		rest = map[string]atRest{}
	}
	if m.before == nil {
		m.before = map[string]map[string]atRest{}
	}

	m.before[life.Variant] = rest
}

// readRest reads devices until each has answered, and at least for so long.
func (m *Monitor) readRest(ctx context.Context, ids []string, least time.Duration) map[string]atRest {
	w := newWatcher(ids)
	powers, clocks := map[string][]float64{}, map[string][]float64{}
	w.seen = func(g *results.GPUReading) {
		if g.PowerW != nil {
			powers[g.Device] = append(powers[g.Device], *g.PowerW)
		}
		if g.CoreHz != nil {
			clocks[g.Device] = append(clocks[g.Device], *g.CoreHz)
		}
	}

	w.sampling = m.Source.Start(ctx, w.take)
	w.await(ctx, m.patience())
	m.isSlow = !w.complete()
	sleep.For(ctx, least)
	w.sampling.Stop()
	rest := map[string]atRest{}
	for id, g := range w.latest() {
		d := atRest{AtRest: telemetry.AtRest{VRAMBytes: g.VRAMUsedBytes, GTTBytes: g.GTTUsedBytes}}
		d.powerW, d.coreHz = medianOf(powers[id]), medianOf(clocks[id])
		rest[id] = d
	}

	return rest
}

// medianOf sorts values; null where there are none.
func medianOf(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return new(metrics.Median(values))
}

// patience is how long to wait for first readings.
func (m *Monitor) patience() time.Duration {
	if m.isSlow {
		return muteWait
	}
	return firstReading
}

// Begin begins to read before a step, waits until its GPUs are calm, and
// until each has been read once, so that the pass lies between readings.
func (m *Monitor) Begin(ctx context.Context, ref results.StepRef, dir string, servers []step.Server,
	result *results.Result,
) {
	if !m.samples() {
		return
	}

	used, notes := m.usedDevices(servers, ref.Variant)
	nodes := m.otherNodes(servers)
	w := newWatcher(append(idsOf(used), nodes...))
	w.notes = notes
	w.monitor, w.devices, w.dir, w.variant = m, used, dir, ref.Variant
	w.sampling = m.Source.Start(ctx, w.take)
	w.watchNodes(ctx, m.Nodes, nodes)
	m.now = w
	m.settle(ctx, ref, w, result)
	w.await(ctx, m.patience())
	m.isSlow = !w.complete()
	if m.Scenario.Telemetry.OnForeign != scenarios.ReactIgnore && len(used) > 0 {
		w.strangers = watchStrangers(ctx, m.Source, servers, idsOf(used))
	}

	w.open()
}

// End ends what Begin began, if the pass did not.
func (m *Monitor) End() {
	if m.now != nil {
		m.now.abandon()
		m.now = nil
	}
}

// Observers is the observer of the step, where there is one.
func (m *Monitor) Observers() []step.Observer {
	if m.now == nil {
		return nil
	}
	return []step.Observer{m.now}
}

// usedDevices are the GPUs that servers were placed on, and where none was
// placed those that they see. notes say what is not known of that.
func (m *Monitor) usedDevices(servers []step.Server, variant string) (devices []device.Device, notes []string) {
	var placed []int
	elsewhere := false
	for _, s := range servers {
		info := s.Info()
		if info.Node == "" {
			placed = append(placed, info.GPUs...)
		} else if len(info.GPUs) > 0 {
			elsewhere = true
		}
	}
	if elsewhere && len(placed) == 0 {
		return nil, nil
	}

	if len(placed) == 0 {
		if v, ok := m.Scenario.Variant(variant); ok {
			return m.Machine.VisibleTo(v.Server.Kind(), v)
		}
		return m.Machine.Devices, nil
	}

	var used []device.Device
	for _, d := range m.Machine.Devices {
		if slices.Contains(placed, d.Index) {
			used = append(used, d)
		}
	}

	return used, nil
}

func idsOf(devices []device.Device) []string {
	ids := make([]string, len(devices))
	for i, d := range devices {
		ids[i] = d.ID()
	}
	return ids
}

// watchedDevices are devices as the figures want them.
func (m *Monitor) watchedDevices(devices []device.Device, variant string) []telemetry.WatchedDevice {
	watched := make([]telemetry.WatchedDevice, len(devices))
	for i, d := range devices {
		watched[i] = telemetry.WatchedDevice{
			ID: d.ID(), Index: d.Index, Name: d.Name, VRAMBytes: d.VRAMBytes, Unified: d.Unified, Parts: len(d.Parts),
			Socket: m.socketOf(d), Before: m.before[variant][d.ID()].AtRest,
		}
		if idle, known := m.idle[d.ID()]; known {
			watched[i].IdleW = &idle
		}
	}
	return watched
}

// socketOf lists the devices of the machine that share a package with d: those at
// its PCI address, partitions of one GPU.
func (m *Monitor) socketOf(d device.Device) []string {
	var ids []string
	for _, other := range m.Machine.Devices {
		if d.PCI != "" && other.PCI == d.PCI {
			ids = append(ids, other.ID())
		}
	}
	if len(ids) < 2 {
		return nil
	}
	return ids
}

// WatchLaunch reads GPUs while nothing is measured and a server starts, for
// whoever watches: that memory fills is a sign of life. The function that it
// gives ends it.
func (m *Monitor) WatchLaunch(ctx context.Context) (end func()) {
	if m.Live == nil || !m.samples() || len(m.Machine.Devices) == 0 {
		return func() {}
	}
	sampling := m.Source.Start(ctx, func(time.Time, results.TelemetrySample) {}) // which notifies Live, too
	return func() { sampling.Stop() }
}

// forwardingSource also gives Live what is read.
type forwardingSource struct {
	Source
	live *status.Live
}

// AlsoTo gives a Source that also feeds l; without l, t itself.
func AlsoTo(l *status.Live, t Source) Source {
	if l == nil || t == nil {
		return t
	}
	return forwardingSource{t, l}
}

func (t forwardingSource) Start(ctx context.Context, emit func(time.Time, results.TelemetrySample)) Sampling {
	return t.Source.Start(ctx, func(at time.Time, s results.TelemetrySample) {
		if s.GPU != nil {
			t.live.GPU(s.GPU)
		}
		emit(at, s)
	})
}
