package telemetry

import (
	"cmp"
	"math"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// gapFactor times the usual distance between readings without one is a gap.
const gapFactor = 3

// CurvePoint is one reading; Value is NaN where a curve is interrupted.
type CurvePoint struct{ AtS, Value float64 }

// DeviceCurves are the readings of one GPU over a pass, for drawing. A curve
// is empty where its quantity was never known, and holds a NaN wherever
// readings are missing for longer than gapFactor times the usual distance.
type DeviceCurves struct {
	Device     string
	VRAMBytes  []CurvePoint
	PowerW     []CurvePoint
	CoreC      []CurvePoint // hotspot, else edge
	MemoryC    []CurvePoint
	Busy       []CurvePoint // share
	CoreHz     []CurvePoint
	PowerLimit []CurvePoint // W
}

// CurveSet gathers telemetry of a pass. The zero set is empty.
type CurveSet struct {
	tracks map[string]*track
}

// Add looks at one sample; only those of GPUs count.
func (c *CurveSet) Add(s *results.TelemetrySample) {
	if s.GPU == nil {
		return
	}
	if c.tracks == nil {
		c.tracks = map[string]*track{}
	}
	t := c.tracks[s.GPU.Device]
	if t == nil {
		t = &track{}
		c.tracks[s.GPU.Device] = t
	}
	t.add(s.AtS, s.GPU)
}

// Devices are the curves by device, in the order of their ids.
func (c *CurveSet) Devices() []DeviceCurves {
	var out []DeviceCurves
	for id, t := range c.tracks {
		t.sort()
		out = append(out, DeviceCurves{
			Device: id, VRAMBytes: t.drawn(vramBytes), PowerW: t.drawn(powerW), CoreC: t.drawn(coreC),
			MemoryC: t.drawn(memoryC), Busy: t.drawn(busy), CoreHz: t.drawn(coreHz), PowerLimit: t.drawn(powerLimitW),
		})
	}
	slices.SortStableFunc(out, func(a, b DeviceCurves) int { return cmp.Compare(a.Device, b.Device) })
	return out
}

// drawn is a column with its gaps marked.
func (t *track) drawn(q quantity) []CurvePoint {
	known := t.known(q)
	usual := usualDistance(t.at)
	var out []CurvePoint
	for i, at := range known.at {
		if i > 0 && at-known.at[i-1] > gapFactor*usual {
			out = append(out, CurvePoint{AtS: (at + known.at[i-1]) / 2, Value: math.NaN()})
		}
		out = append(out, CurvePoint{AtS: at, Value: known.value[i]})
	}
	return out
}

// usualDistance is the median distance between readings.
func usualDistance(at []float64) float64 {
	var distances []float64
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d > 0 {
			distances = append(distances, d)
		}
	}
	if len(distances) == 0 {
		return math.Inf(1)
	}
	return metrics.Median(metrics.Ascending(distances))
}
