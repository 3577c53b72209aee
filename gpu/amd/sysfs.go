package amd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// sysfsSampler reads what the amdgpu driver writes to sysfs: no program, and
// under a millisecond for a server. It keeps the files open. A GPU that is
// suspended is left asleep: its reading holds nothing.
type sysfsSampler struct {
	gpus   []*sysfsGPU
	buffer [4096]byte // a page is the most that an attribute gives
	notes  []string
}

// NewSysfsSampler opens those of the devices that are under options.Root.
func NewSysfsSampler(options device.Options, devices []device.Device) (device.Sampler, error) {
	s := &sysfsSampler{}
	for _, gpu := range gpusOf(options.Root, devices) {
		if gpu.folder == "" {
			continue
		}
		s.gpus = append(s.gpus, openSysfsGPU(gpu))
		if gpu.PartitionIndex != nil {
			s.note("sysfs: a partitioned GPU reports figures of the whole GPU only; they count as those of its first " +
				"partition")
		}
	}
	if len(s.gpus) == 0 {
		return nil, errors.New("sysfs: no GPU with the amdgpu driver")
	}
	return s, nil
}

// Name is "sysfs".
func (s *sysfsSampler) Name() string { return "sysfs" }

// Read reads every GPU. One that says nothing, as after it fell off its bus,
// has no reading.
func (s *sysfsSampler) Read(ctx context.Context) ([]device.Reading, error) {
	var readings []device.Reading
	for _, gpu := range s.gpus {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if reading, ok := gpu.read(s); ok {
			readings = append(readings, reading)
		}
	}
	if len(readings) == 0 {
		return nil, errors.New("sysfs: no GPU answers")
	}
	return readings, nil
}

// Notes are what was odd so far, each said once.
func (s *sysfsSampler) Notes() []string { return s.notes }

func (s *sysfsSampler) note(text string) {
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// Close closes the files.
func (s *sysfsSampler) Close() error {
	for _, gpu := range s.gpus {
		gpu.close()
	}
	return nil
}

// read takes one reading; false if the GPU said nothing at all.
func (g *sysfsGPU) read(s *sysfsSampler) (device.Reading, bool) {
	r := device.Reading{At: time.Now(), GPUReading: results.GPUReading{Device: g.ID()}}
	if suspended(string(g.status.bytes(s.buffer[:]))) {
		s.note(fmt.Sprintf("sysfs: %s is suspended and was not woken", g.ID()))
		g.before, r.Suspended = nil, true
		return r, true
	}

	if !g.ownsCardReadings() {
		r.VRAMUsedBytes = g.bankUsed.bytesUsed(s.buffer[:])
		return r, true
	}

	g.readPower(s, &r)
	r.VRAMUsedBytes = g.vram.bytesUsed(s.buffer[:])
	if g.PartitionIndex != nil {
		if used := g.bankUsed.bytesUsed(s.buffer[:]); used != nil {
			r.VRAMUsedBytes = used
		}
	}

	r.GTTUsedBytes = g.gtt.bytesUsed(s.buffer[:])
	r.Busy = device.Share(g.busy.scaled(s.buffer[:], 100))
	r.MemoryBusy = device.Share(g.memoryBusy.scaled(s.buffer[:], 100))
	r.CoreHz = device.Positive(firstOf(g.core.scaled(s.buffer[:], 1), g.coreTable.selectedClock(s.buffer[:])))
	r.MemoryHz = device.Positive(firstOf(g.memory.scaled(s.buffer[:], 1), g.memoryTable.selectedClock(s.buffer[:])))
	r.EdgeC = device.Celsius(g.edge.scaled(s.buffer[:], 1e3))
	r.HotspotC = device.Celsius(g.hotspot.scaled(s.buffer[:], 1e3))
	r.MemoryC = device.Celsius(g.memoryHot.scaled(s.buffer[:], 1e3))
	return r, !isEmptyReading(r.GPUReading)
}

// readPower reads the power, and what else the driver's table has.
func (g *sysfsGPU) readPower(s *sysfsSampler, r *device.Reading) {
	for _, sensor := range g.power {
		// 0: a second die, which its first speaks for
		if watts := device.Positive(sensor.file.scaled(s.buffer[:], 1e6)); watts != nil {
			r.PowerW, r.PowerKind = watts, sensor.kind
			break
		}
	}

	r.PowerLimitW = device.Positive(g.limit.scaled(s.buffer[:], 1e6))
	data := g.table.bytes(s.buffer[:])
	if data == nil {
		return
	}

	table, err := parseMetricsTable(data, g.node.gfx)
	if err != nil {
		s.note(fmt.Sprintf("sysfs: %s: %v", g.ID(), err))
		return
	}

	r.EnergyJ = table.energyJ
	if r.PowerW == nil {
		r.PowerW, r.PowerKind = table.powerW, table.powerKind
	}

	r.Throttle = table.throttle
	if table.residency != nil {
		r.Throttle = table.residency.since(g.before)
		g.before = table.residency
	}
}

// isEmptyReading is true of a reading in which everything is null.
func isEmptyReading(r results.GPUReading) bool {
	values := []*float64{
		r.PowerW, r.EnergyJ, r.Busy, r.MemoryBusy, r.CoreHz, r.MemoryHz, r.EdgeC, r.HotspotC,
		r.MemoryC, r.PowerLimitW,
	}
	return r.VRAMUsedBytes == nil && r.GTTUsedBytes == nil && r.Throttle == nil && firstOf(values...) == nil
}

// The sources have values that stand for "not there" (65535) and noise; what
// cannot be is null.

func firstOf(values ...*float64) *float64 {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}
