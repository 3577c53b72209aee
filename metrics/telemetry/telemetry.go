package telemetry

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Watched says what the samples of a pass are about.
type Watched struct {
	Devices  []WatchedDevice // that the step used, by index
	Samplers []string
	PeriodS  float64 // asked between readings; the longest, where samplers differ; 0: unknown
	CPUShare *float64
	ToS      float64          // the pass lasted from second 0 to it
	Figures  *results.Figures // of the pass: its work, and its steady state; null: unknown

	Nodes     []WatchedNode // other nodes of the servers that were sampled
	Elsewhere string        // why the devices are not all that did the work; "": they are
}

// WatchedNode is another node of a server.
type WatchedNode struct {
	Name    string
	Devices []WatchedDevice // that the server may use there
}

// WatchedDevice is a GPU, or a partition of one, that a step used.
type WatchedDevice struct {
	ID        string
	Index     int
	Name      string
	VRAMBytes *int64
	Unified   bool     // its memory is that of the host
	Parts     int      // MIG devices that it is cut into
	Socket    []string // ids under which the power of its package may be found, in order; nil: its own only
	Before    AtRest   // before the variant's first server
	IdleW     *float64 // before the run's first server
}

// AtRest is what a GPU has in use when no server of ours runs; null where unknown.
type AtRest struct{ VRAMBytes, GTTBytes *int64 }

// The longest time between two readings of power that an energy may rest on:
// longestGapS, for slow tools longestGapPeriods of their periods.
const (
	longestGapS       = 3.0
	longestGapPeriods = 3.0
)

// gapLimit is the longest gap that figures bear.
func (w Watched) gapLimit() float64 { return max(longestGapS, longestGapPeriods*w.PeriodS) }

// Summarize computes the figures of a step's telemetry. Samples need not be in
// order. Energy is null with a reason where readings do not cover its window.
func Summarize(samples iter.Seq[results.TelemetrySample], w Watched) *results.Telemetry {
	in := collect(ofNode(samples, ""), w)
	t := &results.Telemetry{
		Samplers: w.Samplers, CPUShare: w.CPUShare, Host: in.hostFigures(), Gaps: in.gaps,
		GPUs: []results.GPUFigures{}, Notes: []string{},
	}

	if w.PeriodS > 0 {
		t.PeriodS = &w.PeriodS
	}

	spans := spansOf(w)
	powers := powersOf(in, w)
	for i, d := range w.Devices {
		g := figuresOf(in.track(d.ID), powers[i], d, spans, w)
		t.Readings += g.Pass.Readings
		t.LongestGapS = largest(t.LongestGapS, g.Pass.LongestGapS)
		t.GPUs = append(t.GPUs, g)
	}

	all, allPowers := slices.Clone(t.GPUs), slices.Clone(powers)
	for _, n := range w.Nodes {
		there, powersThere := summarizeNode(samples, n, w)
		t.Nodes = append(t.Nodes, there)
		all, allPowers = append(all, there.GPUs...), append(allPowers, powersThere...)
	}

	if len(all) > 0 {
		t.Sum = sumOf(all, allPowers, spans)
		notAll(t.Sum, w.Elsewhere)
		t.Efficiency = efficiencyOf(t.Sum.Pass.EnergyJ, WorkOf(w.Figures))
		if t.Sum.Steady != nil {
			t.Steady = efficiencyOf(t.Sum.Steady.EnergyJ, steadyWork(w.Figures))
		}
		t.Notes = notesOf(t, powers, w)
	}

	return t
}

// spansOf are the windows of a pass: the whole, and the steady state if there is
// one.
func spansOf(w Watched) []span {
	spans := []span{{0, w.ToS}}
	if steady := steadySpan(w.Figures); steady != nil {
		spans = append(spans, *steady)
	}
	return spans
}

func steadySpan(f *results.Figures) *span {
	if f == nil || f.Steady == nil {
		return nil
	}
	return &span{f.Steady.FromS, f.Steady.ToS}
}

// figuresOf are the figures of one GPU.
func figuresOf(t *track, p power, d WatchedDevice, spans []span, w Watched) results.GPUFigures {
	g := results.GPUFigures{
		Device: d.ID, Index: d.Index, Name: d.Name, VRAMBytes: d.VRAMBytes, Unified: d.Unified,
		CountedWith:  p.countedWith,
		VRAMBaseline: d.Before.VRAMBytes, MemoryBase: addInt(d.Before.VRAMBytes, d.Before.GTTBytes),
	}

	if p.countedWith == "" {
		g.IdleW, g.PowerKind = d.IdleW, p.kind
		g.PowerLimitW, g.LimitChanged = limitOf(p.track, spans[0])
	}

	vram := t.known(vramBytes)
	g.VRAMLoaded, g.VRAMPeak, g.VRAMEnd = memoryOf(vram, spans[0], w.gapLimit())
	g.MemoryLoaded, g.MemoryPeak, _ = memoryOf(t.known(memoryBytes), spans[0], w.gapLimit())
	g.Pass = windowOf(t, p, g.IdleW, spans[0], w)
	if len(spans) > 1 {
		g.Steady = new(windowOf(t, p, g.IdleW, spans[1], w))
	}

	return g
}

// limitOf is the power limit in force: the last one read before the pass
// began or in it, and whether another was read in it.
func limitOf(t *track, window span) (limit *float64, changed bool) {
	limits := t.known(powerLimitW)
	for i, at := range limits.at {
		switch v := limits.value[i]; {
		case limit == nil || at <= window.first:
			limit = &v
		case at <= window.last && OtherLimit(v, *limit):
			changed = true
		}
	}
	return limit, changed
}

// OtherLimit reports whether two power limits differ by more than rounding.
func OtherLimit(a, b float64) bool { return math.Abs(a-b) > 0.5 }

// memoryOf reads a step function: what was in use at second 0, the most during
// the window, and what was in use at its end. A reading holds until the next.
func memoryOf(c curve, window span, limit float64) (loaded, peak, end *int64) {
	for i, at := range c.at {
		v := int64(c.value[i])
		switch {
		case at <= window.first:
			loaded, peak, end = &v, &v, &v
			continue
		case loaded == nil && at <= window.first+limit:
			loaded = &v
		}
		if at > window.last && end != nil {
			return loaded, peak, &v
		}
		if at <= window.last {
			peak = largestInt(peak, &v)
			end = &v
		}
	}

	return loaded, peak, end
}

// notesOf says why figures are null, and how to read them.
func notesOf(t *results.Telemetry, powers []power, w Watched) []string {
	notes := []string{}
	add := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}

	if why := t.Sum.Pass.NoEnergy; why != "" {
		add("no energy: %s", why)
	}

	for i, g := range t.GPUs {
		if g.Pass.NoCounter != "" {
			add("energy counter of GPU %d ignored: %s", g.Index, g.Pass.NoCounter)
		}
		if n := w.Devices[i].Parts; n > 0 {
			add("GPU %d is cut into %d MIG devices: memory, power and energy are those of the whole GPU", g.Index, n)
		}
		if powers[i].shared {
			add("GPU %d is a partition: power and energy are those of its whole socket, counted once", g.Index)
		}
		if g.PowerKind == "average" {
			add("power readings are averages over about a second: the first second of a window belongs in part to " +
				"the time before")
		}
		if g.Unified && g.Pass.EnergyJ != nil {
			add("memory is shared with the CPU; where power is that of the whole chip, the CPU's part is in it")
		}
	}

	if t.Sum.Pass.EnergyJ != nil && w.ToS < shortestWindowS {
		add("the pass lasted %.2f s: power sensors are too slow for windows below %.0f s", w.ToS, shortestWindowS)
	}

	return notes
}

// shortestWindowS is the shortest window whose energy can be judged: sensors
// are updated every 20 to 100 ms, and some average over a second.
const shortestWindowS = 2.0

// work is what was done in a window; null where unknown.
type work struct{ Output, Total, Requests *float64 }

// WorkOf returns the tokens and completed requests of a pass; nothing is known for nil figures.
func WorkOf(f *results.Figures) work {
	if f == nil {
		return work{}
	}
	w := work{Output: asFloat(f.TotalOutputTokens), Requests: new(float64(f.Completed))}
	if f.TotalInputTokens != nil && f.TotalOutputTokens != nil {
		w.Total = new(float64(*f.TotalInputTokens + *f.TotalOutputTokens))
	}
	return w
}

// steadyWork is what ended and arrived in the steady state; how many prompt
// tokens that took is not defined.
func steadyWork(f *results.Figures) work {
	s := f.Steady
	length := s.ToS - s.FromS
	w := work{Requests: new(s.RequestThroughput * length)}
	if s.OutputThroughput != nil {
		w.Output = new(*s.OutputThroughput * length)
	}
	return w
}

func efficiencyOf(joules *float64, w work) *results.Efficiency {
	per := func(amount *float64) *float64 {
		if joules == nil || amount == nil || *amount <= 0 {
			return nil
		}
		return new(*joules / *amount)
	}
	e := &results.Efficiency{JPerOutputToken: per(w.Output), JPerTotalToken: per(w.Total), JPerRequest: per(w.Requests)}
	if e.JPerOutputToken != nil && *e.JPerOutputToken > 0 {
		e.TokensPerSPerW = orNull(1 / *e.JPerOutputToken)
	}
	return e
}

func asFloat(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return new(float64(*v))
}

// largest is the larger of two values, where both are known; else the known one.
func largest(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func largestInt(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// addInt and addFloat are null where one of the two is.
func addInt(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

func addFloat(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// meanOf is null for an empty sample.
func meanOf(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	return new(metrics.Mean(x))
}

func orNull(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
