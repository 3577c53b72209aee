package telemetry

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// quantity is a column of a track.
type quantity int

const (
	powerW quantity = iota
	energyJ
	powerLimitW
	vramBytes
	memoryBytes // VRAM and GTT
	busy
	memoryBusy
	coreHz
	memoryHz
	coreC // hotspot, else edge
	memoryC
	quantities
)

// track is all readings of one device, as columns over time.
type track struct {
	at       []float64
	column   [quantities][]float64 // NaN where not known
	throttle [][]string            // nil where not known
	kind     string                // of the power readings
}

func (t *track) add(at float64, r *results.GPUReading) {
	t.at = append(t.at, at)
	hottest := r.HotspotC
	if hottest == nil {
		hottest = r.EdgeC
	}

	for q, v := range [quantities]*float64{
		powerW: r.PowerW, energyJ: r.EnergyJ, powerLimitW: r.PowerLimitW,
		vramBytes: asFloat(r.VRAMUsedBytes), memoryBytes: asFloat(addInt(r.VRAMUsedBytes, r.GTTUsedBytes)),
		busy: r.Busy, memoryBusy: r.MemoryBusy, coreHz: r.CoreHz, memoryHz: r.MemoryHz, coreC: hottest,
		memoryC: r.MemoryC,
	} {
		if v == nil {
			v = new(math.NaN())
		}
		t.column[q] = append(t.column[q], *v)
	}

	t.throttle = append(t.throttle, r.Throttle)
	if r.PowerW != nil && r.PowerKind != "" {
		t.kind = r.PowerKind
	}
}

// sort brings readings of several sources into the order of time.
func (t *track) sort() {
	if slices.IsSorted(t.at) {
		return
	}
	order := make([]int, len(t.at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.at[a], t.at[b]) })
	t.at, t.throttle = permuted(t.at, order), permuted(t.throttle, order)
	for q := range t.column {
		t.column[q] = permuted(t.column[q], order)
	}
}

func permuted[T any](x []T, order []int) []T {
	out := make([]T, len(x))
	for i, at := range order {
		out[i] = x[at]
	}
	return out
}

// curve is one quantity where it is known, at rising times.
type curve struct{ at, value []float64 }

// known is the column without what is not known. Of readings that carry the
// same time the first stays.
func (t *track) known(q quantity) curve {
	var c curve
	for i, v := range t.column[q] {
		if math.IsNaN(v) || math.IsInf(v, 0) || len(c.at) > 0 && t.at[i] <= c.at[len(c.at)-1] {
			continue
		}
		c.at, c.value = append(c.at, t.at[i]), append(c.value, v)
	}
	return c
}

// within are the values read inside a span, edges included.
func (c curve) within(s span) []float64 {
	from, _ := slices.BinarySearch(c.at, s.first)
	to, found := slices.BinarySearch(c.at, s.last)
	if found {
		to++
	}
	return c.value[from:max(from, to)]
}

// valueAt is the value on the straight line between the readings around a
// time, which must lie between the first and the last.
func (c curve) valueAt(at float64) float64 {
	i, exact := slices.BinarySearch(c.at, at)
	if exact {
		return c.value[i]
	}
	share := (at - c.at[i-1]) / (c.at[i] - c.at[i-1])
	return c.value[i-1] + share*(c.value[i]-c.value[i-1])
}

// longestGap is the longest time without a reading inside a span.
func longestGap(at []float64, s span) float64 {
	longest, last := 0.0, s.first
	for _, t := range at {
		if t > s.first && t < s.last {
			longest, last = max(longest, t-last), t
		}
	}
	return max(longest, s.last-last)
}

// collected are the samples of a pass, sorted by what they are about.
type collected struct {
	tracks map[string]*track
	host   struct{ cpu, load, memory []float64 }
	gaps   int
}

// collect keeps the tracks of the devices that w needs.
func collect(samples iter.Seq[results.TelemetrySample], w Watched) *collected {
	in := &collected{tracks: map[string]*track{}}
	for _, d := range w.Devices {
		in.tracks[d.ID] = &track{}
		for _, id := range d.Socket {
			in.tracks[id] = &track{}
		}
	}

	for s := range samples {
		switch {
		case s.GPU != nil:
			if t := in.tracks[s.GPU.Device]; t != nil {
				t.add(s.AtS, s.GPU)
			}
		case s.AtS < 0 || s.AtS > w.ToS:
		case s.Host != nil:
			in.addHost(s.Host)
		case s.Gap != nil:
			in.gaps++
		}
	}

	for _, t := range in.tracks {
		t.sort()
	}

	return in
}

func (in *collected) addHost(h *results.HostReading) {
	in.host.cpu, in.host.load = metrics.AppendKnown(in.host.cpu, h.CPUBusy), metrics.AppendKnown(in.host.load, h.Load1)
	in.host.memory = metrics.AppendKnown(in.host.memory, asFloat(h.MemoryUsedBytes))
}

// track is that of a device; empty where it never answered.
func (in *collected) track(id string) *track { return in.tracks[id] }

func (in *collected) hostFigures() *results.HostFigures {
	h := in.host
	if len(h.cpu)+len(h.load)+len(h.memory) == 0 {
		return nil
	}
	f := &results.HostFigures{CPUBusyMean: meanOf(h.cpu), CPUBusyMax: maxOf(h.cpu), Load1Max: maxOf(h.load)}
	if peak := maxOf(h.memory); peak != nil {
		f.MemoryUsedPeak = new(int64(*peak))
	}
	return f
}

func maxOf(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return new(slices.Max(x))
}

func minOf(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return new(slices.Min(x))
}

// span is a range of seconds of a pass, both ends included.
type span struct{ first, last float64 }

func (s span) length() float64 { return s.last - s.first }
