package harness

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Telemetry reads GPUs and host beside a run.
type Telemetry interface {
	// Start begins to read. emit gets every sample and when it was read, never
	// two at a time, and none after Stop. AtS of the samples is not set.
	Start(ctx context.Context, emit func(at time.Time, sample results.TelemetrySample)) Sampling
	// Holders are the processes that hold memory of GPUs.
	Holders(ctx context.Context) ([]results.GPUHolder, error)
}

// Sampling is a reading that goes on.
type Sampling interface {
	// Stop takes a last reading and ends. It returns within seconds.
	Stop() SamplingCost
}

// SamplingCost is what a sampling was and took.
type SamplingCost struct {
	Samplers []string      // of GPUs
	Period   time.Duration // between readings of a GPU; the longest, where samplers differ
	CPUShare float64       // CPU seconds per second
}

// pidTree is a Server that knows the processes that are its own, as the
// kernel numbers them here.
type pidTree interface{ OwnPIDs() []int }

// watching is what a runner knows of GPUs from one step to the next.
type watching struct {
	idle   map[string]float64           // W by device, before the first server
	idleHz map[string]float64           // clock of the cores by device, as idle
	before map[string]map[string]atRest // by variant and device, before its first server
	limits map[string]float64           // power limit by device in the first step that knew it
	mute   bool                         // a device gave no reading when it was waited for
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
	restTime     = 2 * time.Second  // over which idle power is read
	firstReading = 10 * time.Second // until a slow tool has answered
	muteWait     = time.Second      // the same for a tool that did not in time before
	settlePoll   = 500 * time.Millisecond
	settleTell   = 5 * time.Second
)

// watches reports whether the run samples anything.
func (r *Runner) watches() bool { return r.Telemetry != nil && !r.Scenario.Telemetry.Off }

// restBefore reads GPUs before the first server of a variant.
func (r *Runner) restBefore(ctx context.Context, life plan.Life) {
	if !r.watches() || len(r.Box.Devices) == 0 || r.watching.before[life.Variant] != nil {
		return
	}
	var ids []string
	for _, d := range r.Box.Devices {
		ids = append(ids, d.ID())
	}
	at := time.Duration(0)
	if r.watching.idle == nil {
		at = restTime
	}
	rest := r.readRest(ctx, ids, at)
	if r.watching.idle == nil {
		r.watching.idle, r.watching.idleHz = map[string]float64{}, map[string]float64{}
		for id, d := range rest {
			if d.powerW != nil {
				r.watching.idle[id] = *d.powerW
			}
			if d.coreHz != nil {
				r.watching.idleHz[id] = *d.coreHz
			}
		}
	}
	kind, _ := engines.Lookup(r.Scenario.Variants[life.VariantIndex].Server.Launcher)
	if kind.External { // it runs already: what is in use is its own
		rest = map[string]atRest{}
	}
	if r.watching.before == nil {
		r.watching.before = map[string]map[string]atRest{}
	}
	r.watching.before[life.Variant] = rest
}

// readRest reads devices until each has answered, and at least for so long.
func (r *Runner) readRest(ctx context.Context, ids []string, least time.Duration) map[string]atRest {
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
	w.sampling = r.Telemetry.Start(ctx, w.take)
	w.await(ctx, r.patience())
	r.watching.mute = !w.complete()
	step.Pause(ctx, least)
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
func (r *Runner) patience() time.Duration {
	if r.watching.mute {
		return muteWait
	}
	return firstReading
}

// startWatch begins to read before a step, waits until its GPUs are calm, and
// until each has been read once, so that the pass lies between readings.
func (r *Runner) startWatch(ctx context.Context, a attempt, servers []step.Server, result *results.Result) {
	if !r.watches() {
		return
	}
	used, notes := r.usedDevices(servers, a.Variant)
	w := newWatcher(idsOf(used))
	w.notes = notes
	w.runner, w.devices, w.dir, w.variant = r, used, r.dirOf(a), a.Variant
	w.sampling = r.Telemetry.Start(ctx, w.take)
	r.watching.now = w
	r.settle(ctx, a, w, result)
	w.await(ctx, r.patience())
	r.watching.mute = !w.complete()
	if r.Scenario.Telemetry.OnForeign != scenarios.ReactIgnore && len(used) > 0 {
		w.strangers = watchStrangers(ctx, r.Telemetry, servers, idsOf(used))
	}
	w.open()
}

// endWatch ends what startWatch began, if the pass did not.
func (r *Runner) endWatch() {
	if r.watching.now != nil {
		r.watching.now.abandon()
		r.watching.now = nil
	}
}

// watchers is the observer of the step, where there is one.
func (r *Runner) watchers() []step.Observer {
	if r.watching.now == nil {
		return nil
	}
	return []step.Observer{r.watching.now}
}

// usedDevices are the GPUs that servers were placed on, and where none was
// placed those that they see. notes say what cannot be told of that.
func (r *Runner) usedDevices(servers []step.Server, variant string) (devices []device.Device, notes []string) {
	var placed []int
	for _, s := range servers {
		placed = append(placed, s.Info().GPUs...)
	}
	if len(placed) == 0 {
		for _, v := range r.Scenario.Variants {
			if v.Name == variant {
				kind, _ := engines.Lookup(v.Server.Launcher)
				return r.Box.SeenBy(kind, v)
			}
		}
		return r.Box.Devices, nil
	}
	var used []device.Device
	for _, d := range r.Box.Devices {
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
func (r *Runner) watchedDevices(devices []device.Device, variant string) []telemetry.WatchedDevice {
	watched := make([]telemetry.WatchedDevice, len(devices))
	for i, d := range devices {
		watched[i] = telemetry.WatchedDevice{
			ID: d.ID(), Index: d.Index, Name: d.Name, VRAMBytes: d.VRAMBytes, Unified: d.Unified, Parts: len(d.Parts),
			Socket: r.socketOf(d), Before: r.watching.before[variant][d.ID()].AtRest,
		}
		if idle, known := r.watching.idle[d.ID()]; known {
			watched[i].IdleW = &idle
		}
	}
	return watched
}

// socketOf lists the devices of the box that share a package with d: those at
// its PCI address, partitions of one GPU.
func (r *Runner) socketOf(d device.Device) []string {
	var ids []string
	for _, other := range r.Box.Devices {
		if d.PCI != "" && other.PCI == d.PCI {
			ids = append(ids, other.ID())
		}
	}
	if len(ids) < 2 {
		return nil
	}
	return ids
}

// elsewhere names the nodes of servers that are not this one, as a reason why
// what is sampled here is not all.
func elsewhere(servers []results.Server) string {
	var others []string
	for _, s := range servers {
		if len(s.Nodes) > 1 {
			others = append(others, s.Nodes[1:]...)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "GPUs of the server's other nodes are not sampled: " + strings.Join(others, ", ")
}
