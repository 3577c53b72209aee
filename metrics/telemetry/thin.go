package telemetry

import (
	"math"
	"slices"

	"github.com/benchrig/bench/results"
)

// Thin leaves about so many readings of each curve, enough to draw it.
func (d *DeviceCurves) Thin(most int) {
	for _, curve := range []*[]CurvePoint{
		&d.VRAMBytes, &d.PowerW, &d.CoreC, &d.MemoryC, &d.Busy, &d.CoreHz, &d.PowerLimit,
	} {
		*curve = thinned(*curve, most)
	}
}

// thinned keeps of each stretch of a long curve its lowest and its highest
// reading, in their order, and its gaps.
func thinned(points []CurvePoint, most int) []CurvePoint {
	if len(points) <= most {
		return slices.Clip(points)
	}

	per := max(2*len(points)/most, 2)
	var kept []CurvePoint
	for stretch := range slices.Chunk(points, per) {
		low, high, gap := -1, -1, -1
		for i, p := range stretch {
			switch {
			case math.IsNaN(p.Value):
				gap = i
			default:
				if low < 0 || p.Value < stretch[low].Value {
					low = i
				}
				if high < 0 || p.Value > stretch[high].Value {
					high = i
				}
			}
		}
		picked := []int{low, high, gap}
		slices.Sort(picked)
		for _, i := range slices.Compact(picked) {
			if i >= 0 {
				kept = append(kept, stretch[i])
			}
		}
	}

	return kept
}

// Together sums the power of devices and takes the temperature of the hottest, in
// so many stretches of the pass. A stretch in which a device gives no power has no
// sum. Devices whose power t counts with another's are left out.
func Together(t *results.Telemetry, devices []DeviceCurves, stretches int) (watts, degrees []CurvePoint) {
	if t != nil {
		devices = slices.DeleteFunc(slices.Clone(devices), func(d DeviceCurves) bool {
			return !slices.ContainsFunc(t.GPUs, func(g results.GPUFigures) bool {
				return g.Device == d.Device && g.CountedWith == ""
			})
		})
	}

	from, to := math.Inf(1), math.Inf(-1)
	for _, d := range devices {
		for _, curve := range [][]CurvePoint{d.PowerW, d.CoreC} {
			if n := len(curve); n > 0 {
				from, to = min(from, curve[0].AtS), max(to, curve[n-1].AtS)
			}
		}
	}

	if !(from <= to) {
		return nil, nil
	}

	width := max((to-from)/float64(stretches), 1e-9)
	sum, hottest := make([]float64, stretches), make([]float64, stretches)
	for _, d := range devices {
		power, heat := meansIn(d.PowerW, from, width, stretches), meansIn(d.CoreC, from, width, stretches)
		for i := range stretches {
			sum[i] += power[i] // NaN stays NaN
			if !math.IsNaN(heat[i]) {
				hottest[i] = max(hottest[i], heat[i])
			}
		}
	}

	for i := range stretches {
		at := from + (float64(i)+0.5)*width
		if !math.IsNaN(sum[i]) {
			watts = append(watts, CurvePoint{AtS: at, Value: sum[i]})
		}
		if hottest[i] > 0 {
			degrees = append(degrees, CurvePoint{AtS: at, Value: hottest[i]})
		}
	}

	return watts, degrees
}

// meansIn are the means of a curve in each stretch; NaN where it has none.
func meansIn(curve []CurvePoint, from, width float64, stretches int) []float64 {
	means, counts := make([]float64, stretches), make([]float64, stretches)
	for _, p := range curve {
		if !math.IsNaN(p.Value) {
			i := min(max(int((p.AtS-from)/width), 0), stretches-1)
			means[i] += p.Value
			counts[i]++
		}
	}
	for i := range means {
		means[i] /= counts[i] // 0/0 is NaN
	}

	return means
}
