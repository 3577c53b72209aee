//go:build gpu

package gpu

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// hardwareRounds is how many readings of each sampler are compared.
const hardwareRounds = 20

// TestHardware compares what different ways of reading say of the real GPUs
// of this machine, reading by reading: NVML and nvidia-smi, sysfs and AMD's
// tools. Figures that move are compared by their medians.
func TestHardware(t *testing.T) {
	machine, err := Detect(t.Context(), device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(machine.GPUs) == 0 {
		t.Skip("this machine has no GPU")
	}
	for _, vendor := range []string{device.NVIDIA, device.AMD} {
		devices := machine.Of(vendor)
		if len(devices) == 0 {
			continue
		}
		series := hardwareSeries(t, vendor, devices)
		if len(series) < 2 {
			t.Logf("%s: only one way to read it works; nothing to compare", vendor)
			continue
		}
		for _, other := range series[1:] {
			for _, d := range devices {
				compareHardware(t, d.ID(), series[0], other)
			}
		}
	}
}

// readSeries is what one sampler said, by device.
type readSeries struct {
	sampler string
	of      map[string][]device.Reading
}

// hardwareSeries reads with every sampler that works, in turns.
func hardwareSeries(t *testing.T, vendor string, devices []device.Device) []readSeries {
	t.Helper()
	var samplers []device.Sampler
	var series []readSeries
	for _, kind := range kindsOf(vendor) {
		sampler, notes, err := trial(t.Context(), device.Options{}, kind, devices)
		if err != nil {
			t.Logf("%s: %v", kind.name, err)
			continue
		}
		t.Cleanup(func() { _ = sampler.Close() })
		t.Logf("%s works; notes %q", kind.name, notes)
		samplers = append(samplers, sampler)
		series = append(series, readSeries{kind.name, map[string][]device.Reading{}})
	}
	for range hardwareRounds {
		for i, sampler := range samplers {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			readings, err := sampler.Read(ctx)
			cancel()
			if err != nil {
				t.Errorf("%s: %v", sampler.Name(), err)
			}
			for _, r := range readings {
				series[i].of[r.Device] = append(series[i].of[r.Device], r)
			}
		}
		time.Sleep(250 * time.Millisecond)
	}
	return series
}

// figure is one that both samplers tell, and how far they may differ.
type figure struct {
	name     string
	of       func(results.GPUReading) *float64
	absolute float64
	relative float64
}

func hardwareFigures() []figure {
	bytes := func(n *int64) *float64 {
		if n == nil {
			return nil
		}
		return new(float64(*n))
	}
	return []figure{
		{"vram_used_bytes", func(r results.GPUReading) *float64 { return bytes(r.VRAMUsedBytes) }, 64 << 20, 0.01},
		{"power_w", func(r results.GPUReading) *float64 { return r.PowerW }, 10, 0.15},
		{"power_limit_w", func(r results.GPUReading) *float64 { return r.PowerLimitW }, 1, 0},
		{"edge_c", func(r results.GPUReading) *float64 { return r.EdgeC }, 3, 0},
		{"memory_c", func(r results.GPUReading) *float64 { return r.MemoryC }, 3, 0},
		{"core_hz", func(r results.GPUReading) *float64 { return r.CoreHz }, 30e6, 0.1},
		{"memory_hz", func(r results.GPUReading) *float64 { return r.MemoryHz }, 10e6, 0.02},
		{"busy", func(r results.GPUReading) *float64 { return r.Busy }, 0.15, 0},
	}
}

func compareHardware(t *testing.T, id string, a, b readSeries) {
	t.Helper()
	if len(a.of[id]) == 0 || len(b.of[id]) == 0 {
		t.Errorf("%s: %d readings by %s, %d by %s", id, len(a.of[id]), a.sampler, len(b.of[id]), b.sampler)
		return
	}
	for _, f := range hardwareFigures() {
		x, y := medianOf(a.of[id], f.of), medianOf(b.of[id], f.of)
		if math.IsNaN(x) || math.IsNaN(y) {
			t.Logf("%s %s: %s says %v, %s says %v", id, f.name, a.sampler, x, b.sampler, y)
			continue
		}
		if off := math.Abs(x - y); off > f.absolute+f.relative*math.Max(x, y) {
			t.Errorf("%s %s: %s says %v, %s says %v", id, f.name, a.sampler, x, b.sampler, y)
		}
	}
	checkEnergyCounter(t, id, a)
}

// checkEnergyCounter compares the counter with the power over the same time.
func checkEnergyCounter(t *testing.T, id string, s readSeries) {
	t.Helper()
	readings := s.of[id]
	first, last := readings[0], readings[len(readings)-1]
	if first.EnergyJ == nil || last.EnergyJ == nil {
		return
	}
	sum := 0.0
	for i := 1; i < len(readings); i++ {
		if readings[i].PowerW == nil || readings[i-1].PowerW == nil {
			return
		}
		sum += (*readings[i].PowerW + *readings[i-1].PowerW) / 2 * readings[i].At.Sub(readings[i-1].At).Seconds()
	}
	counted := *last.EnergyJ - *first.EnergyJ
	if off := math.Abs(counted-sum) / math.Max(sum, 1); off > 0.2 {
		t.Errorf("%s: %s counts %.1f J, its power makes %.1f J", id, s.sampler, counted, sum)
	}
}

// medianOf is NaN where no reading has the figure.
func medianOf(readings []device.Reading, of func(results.GPUReading) *float64) float64 {
	var values []float64
	for _, r := range readings {
		if v := of(r.GPUReading); v != nil {
			values = append(values, *v)
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[len(values)/2]
}
