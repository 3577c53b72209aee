package status

import (
	"time"

	"github.com/benchrig/bench/results"
)

// staleGPU is the age from which on a reading of a GPU would pass for the
// present.
const staleGPU = 15 * time.Second

// GPU takes in a reading.
func (l *Live) GPU(g *results.GPUReading) {
	at := time.Now()
	l.change(func() { l.gpus[g.Device] = gpuAt{*g, at} })
}

// fillGPUs fills in the last readings in the order of the devices. Where a GPU
// gave none lately, its values are null. The caller holds the mutex.
func (l *Live) fillGPUs(now *results.Live, at time.Time) {
	now.GPUs = []results.LiveGPU{}
	for _, d := range l.Devices {
		one := results.LiveGPU{Index: d.Index, Name: d.Name, VRAMTotal: d.VRAMBytes}
		if g, read := l.gpus[d.ID()]; read {
			if one.AgeS = at.Sub(g.at).Seconds(); at.Sub(g.at) < staleGPU {
				one.VRAMUsed, one.PowerW, one.PowerLimitW = g.VRAMUsedBytes, g.PowerW, g.PowerLimitW
				one.Busy, one.HottestC, one.Throttle = g.Busy, HottestOf(g.GPUReading), g.Throttle
			}
		}
		now.GPUs = append(now.GPUs, one)
	}
}

// HottestOf is the temperature of a GPU's hottest sensor.
func HottestOf(g results.GPUReading) *float64 {
	var hottest *float64
	for _, c := range []*float64{g.EdgeC, g.HotspotC, g.MemoryC} {
		if c != nil && (hottest == nil || *c > *hottest) {
			hottest = c
		}
	}
	return hottest
}
