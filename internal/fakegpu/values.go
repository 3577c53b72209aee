package fakegpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Values are what a GPU says about itself.
type Values struct {
	VRAMUsed    int64 // beside what HoldVRAM adds
	GTTUsed     int64
	PowerW      float64
	EnergyJ     float64 // counter since the driver was loaded
	Busy        float64 // 0 to 1
	MemoryBusy  float64
	CoreHz      float64
	MemoryHz    float64
	HotspotC    float64
	MemoryC     float64
	PowerLimitW float64
	// Throttle holds what slows the GPU down from the last Set to this one:
	// "prochot", "ppt", "socket", "vr", "hbm".
	Throttle []string
}

// Idle are the values of an MI300X that does nothing.
func Idle() Values {
	return Values{
		VRAMUsed: 298647552, GTTUsed: 14761984, PowerW: 140, EnergyJ: 17_880_000,
		CoreHz: 132e6, MemoryHz: 900e6, HotspotC: 38, MemoryC: 33, PowerLimitW: 750,
	}
}

// Loaded are the values of one that decodes.
func Loaded() Values {
	v := Idle()
	v.PowerW, v.Busy, v.MemoryBusy, v.CoreHz, v.MemoryHz, v.HotspotC, v.MemoryC = 620, 1, 0.7, 2100e6, 1300e6, 74, 61
	return v
}

// Values are those that a GPU was given last.
func (b *Machine) Values(gpu int) Values {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.values[gpu]
}

// Set makes a GPU say these values from now on.
func (b *Machine) Set(gpu int, v Values) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.values[gpu] = v
	b.clocks[gpu].advance(v.Throttle)
	sensors := hwmon(gpu)
	files := map[string]float64{
		pciFolder(gpu) + "/mem_info_gtt_used": float64(v.GTTUsed),
		pciFolder(gpu) + "/gpu_busy_percent":  100 * v.Busy,
		pciFolder(gpu) + "/mem_busy_percent":  100 * v.MemoryBusy,
		sensors + "/power1_input":             1e6 * v.PowerW,
		sensors + "/power1_cap":               1e6 * v.PowerLimitW,
		sensors + "/temp2_input":              1e3 * v.HotspotC,
		sensors + "/temp3_input":              1e3 * v.MemoryC,
		sensors + "/freq1_input":              v.CoreHz,
		sensors + "/freq2_input":              v.MemoryHz,
	}

	for name, value := range files {
		if err := b.write(name, fmt.Sprintf("%.0f\n", value)); err != nil {
			return err
		}
	}

	if err := b.write(filepath.Join(pciFolder(gpu), "gpu_metrics"), string(b.clocks[gpu].metrics(v))); err != nil {
		return err
	}

	return b.writeMemory(gpu)
}

// writeMemory writes the memory in use: its own and what processes hold.
func (b *Machine) writeMemory(gpu int) error {
	used := b.values[gpu].VRAMUsed
	for h, bytes := range b.held {
		if h.gpu == gpu {
			used += bytes
		}
	}
	return b.write(filepath.Join(pciFolder(gpu), "mem_info_vram_used"), fmt.Sprintf("%d\n", used))
}

// Play sets the values of a GPU, as a function of the time since the call,
// every so often until ctx is done. It returns nil then.
func (b *Machine) Play(ctx context.Context, gpu int, every time.Duration, at func(time.Duration) Values) error {
	start := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := b.Set(gpu, at(time.Since(start))); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// counters are those of a GPU's firmware that only grow.
type counters struct {
	cycles, prochot, ppt, socket, vr, hbm uint32
}

// advance is one Set: a hundred cycles.
func (c *counters) advance(throttle []string) {
	const cycles = 100
	c.cycles += cycles
	for _, counter := range []struct {
		name  string
		value *uint32
	}{{"prochot", &c.prochot}, {"ppt", &c.ppt}, {"socket", &c.socket}, {"vr", &c.vr}, {"hbm", &c.hbm}} {
		if slices.Contains(throttle, counter.name) {
			*counter.value += cycles
		}
	}
}

// metrics is the driver's binary table, version 1.7, in which all ones mean
// that a value is not there.
func (c *counters) metrics(v Values) []byte {
	const size = 2208
	table := []byte(strings.Repeat("\xff", size))
	order := binary.LittleEndian
	order.PutUint16(table, size)
	table[2], table[3] = 1, 7
	order.PutUint16(table[4:], uint16(v.HotspotC))
	order.PutUint16(table[6:], uint16(v.MemoryC))
	order.PutUint16(table[10:], uint16(math.Round(v.PowerW)))
	order.PutUint16(table[12:], uint16(100*v.Busy))
	order.PutUint16(table[14:], uint16(100*v.MemoryBusy))
	order.PutUint64(table[24:], uint64(math.Round(v.EnergyJ*65536))) // units of 2^-16 J
	for i, counter := range []uint32{c.cycles, c.prochot, c.ppt, c.socket, c.vr, c.hbm} {
		order.PutUint32(table[40+4*i:], counter)
	}

	for i := range 8 {
		order.PutUint16(table[296+2*i:], uint16(v.CoreHz/1e6))
	}

	order.PutUint16(table[336:], uint16(v.MemoryHz/1e6))
	return table
}
