package telemetry

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// windowOf are the figures of one GPU over a span.
func windowOf(t *track, p power, idleW *float64, s span, w Watched) results.GPUWindow {
	inside := curve{t.at, t.at}.within(s)
	out := results.GPUWindow{FromS: s.first, ToS: s.last, Readings: len(inside), Throttle: throttleOf(t, s)}
	out.LongestGapS = new(longestGap(t.at, s))
	mean := func(q quantity) *float64 { return meanOf(t.known(q).within(s)) }
	out.BusyMean, out.MemoryBusy, out.MemoryHzMean = mean(busy), mean(memoryBusy), mean(memoryHz)
	core, temp := t.known(coreHz).within(s), t.known(coreC).within(s)
	out.CoreHzMean, out.CoreHzMin = meanOf(core), minOf(core)
	out.TempMeanC, out.TempMaxC = meanOf(temp), maxOf(temp)
	out.MemTempMaxC = maxOf(t.known(memoryC).within(s))
	if p.countedWith != "" {
		out.NoEnergy = "counted with " + p.countedWith
		return out
	}

	addEnergy(&out, p.track, idleW, s, w.gapLimit())
	return out
}

// addEnergy adds power and energy.
func addEnergy(out *results.GPUWindow, t *track, idleW *float64, s span, limit float64) {
	watts := t.known(powerW)
	if values := watts.within(s); len(values) > 0 {
		out.PowerMedianW, out.PowerMaxW = new(metrics.Median(metrics.Ascending(values))), maxOf(values)
	}

	counter, why := t.known(energyJ).counted(s, limit)
	out.CounterJ, out.NoCounter = counter, why
	if !(s.length() > 0) {
		out.NoEnergy = "the window has no length"
	} else {
		out.NoEnergy = watts.uncovered(s, "power", limit)
	}

	if out.NoEnergy != "" {
		return
	}

	joules := watts.integral(s)
	out.EnergyJ, out.PowerMeanW = &joules, new(joules/s.length())
	if idleW != nil {
		out.AboveIdleJ = new(joules - *idleW*s.length())
	}
	if counter == nil || joules <= 0 {
		return
	}
	if why := contradiction(*counter, joules); why != "" && s.length() >= shortestWindowS {
		out.CounterJ, out.NoCounter = nil, why
		return
	}

	out.Disagreement = orNull(*counter/joules - 1)
}

// throttleOf is the share of the readings that say each reason, of those that
// say anything. It is null if none does.
func throttleOf(t *track, s span) map[string]float64 {
	n := 0
	counts := map[string]float64{}
	for i, reasons := range t.throttle {
		if t.at[i] < s.first || t.at[i] > s.last || reasons == nil {
			continue
		}
		n++
		for _, reason := range reasons {
			counts[reason]++
		}
	}

	if n == 0 {
		return nil
	}

	for reason := range counts {
		counts[reason] /= float64(n)
	}

	return counts
}

// sumOf adds GPUs up.
func sumOf(gpus []results.GPUFigures, powers []power, spans []span) *results.GPUFigures {
	sum := gpus[0]
	sum.Device, sum.Index, sum.CountedWith = "", 0, ""
	owners := slices.DeleteFunc(slices.Clone(gpus), func(g results.GPUFigures) bool { return g.CountedWith != "" })
	for _, g := range gpus[1:] {
		if g.Name != sum.Name {
			sum.Name = ""
		}
		sum.Unified = sum.Unified || g.Unified
		for _, pair := range []struct {
			into **int64
			from *int64
		}{
			{&sum.VRAMBytes, g.VRAMBytes},
			{&sum.VRAMBaseline, g.VRAMBaseline},
			{&sum.VRAMLoaded, g.VRAMLoaded},
			{&sum.VRAMPeak, g.VRAMPeak},
			{&sum.VRAMEnd, g.VRAMEnd},
			{&sum.MemoryBase, g.MemoryBase},
			{&sum.MemoryLoaded, g.MemoryLoaded},
			{&sum.MemoryPeak, g.MemoryPeak},
		} {
			*pair.into = addInt(*pair.into, pair.from)
		}
	}

	for _, g := range owners[1:] {
		sum.IdleW, sum.PowerLimitW = addFloat(sum.IdleW, g.IdleW), addFloat(sum.PowerLimitW, g.PowerLimitW)
		sum.LimitChanged = sum.LimitChanged || g.LimitChanged
		if g.PowerKind != sum.PowerKind {
			sum.PowerKind = ""
		}
	}

	sum.Pass = sumWindow(gpus, powers, spans[0], func(g results.GPUFigures) results.GPUWindow { return g.Pass })
	if len(spans) > 1 {
		sum.Steady = new(sumWindow(gpus, powers, spans[1],
			func(g results.GPUFigures) results.GPUWindow { return *g.Steady }))
	}

	return &sum
}

// sumWindow adds up the windows of GPUs.
func sumWindow(gpus []results.GPUFigures, powers []power, s span,
	of func(results.GPUFigures) results.GPUWindow,
) results.GPUWindow {
	sum := results.GPUWindow{FromS: s.first, ToS: s.last}
	var busy, memoryBusy, core, memory, temp means
	for i, g := range gpus {
		w := of(g)
		sum.Readings += w.Readings
		sum.LongestGapS = largest(sum.LongestGapS, w.LongestGapS)
		sum.TempMaxC, sum.MemTempMaxC = largest(sum.TempMaxC, w.TempMaxC), largest(sum.MemTempMaxC, w.MemTempMaxC)
		if w.CoreHzMin != nil && (sum.CoreHzMin == nil || *w.CoreHzMin < *sum.CoreHzMin) {
			sum.CoreHzMin = w.CoreHzMin
		}
		sum.Throttle = worstShares(sum.Throttle, w.Throttle)
		busy.add(w.BusyMean)
		memoryBusy.add(w.MemoryBusy)
		core.add(w.CoreHzMean)
		memory.add(w.MemoryHzMean)
		temp.add(w.TempMeanC)
		if powers[i].countedWith == "" && w.NoEnergy != "" && sum.NoEnergy == "" {
			sum.NoEnergy = fmt.Sprintf("GPU %d: %s", g.Index, w.NoEnergy)
		}
	}

	sum.BusyMean = busy.mean()
	sum.MemoryBusy = memoryBusy.mean()
	sum.CoreHzMean = core.mean()
	sum.MemoryHzMean = memory.mean()
	sum.TempMeanC = temp.mean()
	sumEnergy(&sum, gpus, powers, s, of)
	return sum
}

// sumEnergy adds up power and energy, each socket once. They are null unless
// every GPU has them.
func sumEnergy(sum *results.GPUWindow, gpus []results.GPUFigures, powers []power, s span,
	of func(results.GPUFigures) results.GPUWindow,
) {
	if sum.NoEnergy != "" {
		return
	}

	var curves []curve
	sum.EnergyJ, sum.AboveIdleJ, sum.CounterJ = new(0.0), new(0.0), new(0.0)
	for i, g := range gpus {
		if powers[i].countedWith != "" {
			continue
		}
		w := of(g)
		sum.EnergyJ, sum.AboveIdleJ = addFloat(sum.EnergyJ, w.EnergyJ), addFloat(sum.AboveIdleJ, w.AboveIdleJ)
		sum.CounterJ = addFloat(sum.CounterJ, w.CounterJ)
		curves = append(curves, powers[i].track.known(powerW))
	}

	sum.PowerMeanW = new(*sum.EnergyJ / s.length())
	if watts := added(curves, s); len(watts) > 0 {
		sum.PowerMedianW, sum.PowerMaxW = new(metrics.Median(metrics.Ascending(watts))), maxOf(watts)
	}
	if sum.CounterJ != nil && *sum.EnergyJ > 0 {
		sum.Disagreement = orNull(*sum.CounterJ / *sum.EnergyJ - 1)
	}
}

// worstShares keeps the larger share of each reason; what one GPU does not
// know is not known unless another says it.
func worstShares(a, b map[string]float64) map[string]float64 {
	if a == nil && b == nil {
		return nil
	}
	worst := map[string]float64{}
	for _, shares := range []map[string]float64{a, b} {
		for reason, share := range shares {
			worst[reason] = max(worst[reason], share)
		}
	}
	return worst
}

// means is the mean of values that must all be known.
type means struct {
	values  []float64
	unknown bool
}

func (m *means) add(v *float64) {
	m.values = metrics.AppendKnown(m.values, v)
	m.unknown = m.unknown || v == nil
}

func (m *means) mean() *float64 {
	if m.unknown {
		return nil
	}
	return meanOf(m.values)
}
