package detail

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printGPUs prints what each GPU of a step did, their sum, and how that was read.
func printGPUs(p *table.Printer, t *results.Telemetry) {
	if t == nil || len(t.GPUs) == 0 && t.Host == nil && len(t.Nodes) == 0 && samplingText(t) == "" &&
		len(t.Notes) == 0 {
		return
	}

	p.Section("GPUs and host")
	for i := range t.GPUs {
		g := &t.GPUs[i]
		p.Wrapped("  ", fmt.Sprintf("GPU %d %s: %s", g.Index, text.Clean(cmp.Or(g.Name, g.Device)),
			strings.Join(gpuParts(g), "; ")))
	}

	if t.Sum != nil && (len(t.GPUs) > 1 || len(t.Nodes) > 0) {
		p.Wrapped("  ", "all GPUs: "+strings.Join(gpuParts(t.Sum), "; "))
	}

	printEfficiency(p, "per work", t.Efficiency)
	printEfficiency(p, "in the steady state", t.Steady)
	if t.Host != nil {
		p.Wrapped("  ", "host: "+hostText(t.Host))
	}
	for _, n := range t.Nodes {
		printNode(p, "node", n)
	}

	if line := samplingText(t); line != "" {
		p.Wrapped("  ", line)
	}

	for _, note := range t.Notes {
		p.Wrapped("  ", "note: "+text.Clean(note))
	}
}

func hostText(h *results.HostFigures) string {
	return fmt.Sprintf("CPUs busy %s %% (peak %s %%), peak memory %s GiB, peak load %s",
		table.Scaled(h.CPUBusyMean, 100, 1), table.Scaled(h.CPUBusyMax, 100, 1), table.Gibibytes(h.MemoryUsedPeak),
		table.Number(h.Load1Max, 2))
}

// printNode prints what is known of another host: a node of the server, or the
// host of a load agent.
func printNode(p *table.Printer, what string, n results.NodeTelemetry) {
	name := what + " " + text.Clean(n.Node)
	if n.Host != nil {
		p.Wrapped("  ", name+": "+hostText(n.Host))
	}
	for i := range n.GPUs {
		g := &n.GPUs[i]
		p.Wrapped("  ", fmt.Sprintf("%s, GPU %d %s: %s", name, g.Index, text.Clean(cmp.Or(g.Name, g.Device)),
			strings.Join(gpuParts(g), "; ")))
	}
}

// gpuParts are the figures of a GPU that are known.
func gpuParts(g *results.GPUFigures) []string {
	var parts []string
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}

	m, w := catalog.MemoryOf(g), g.Pass
	total := ""
	if g.VRAMBytes != nil && !g.Unified {
		total = " of " + table.Gibibytes(g.VRAMBytes)
	}

	add(m.Peak != nil, "memory before %s, loaded %s, peak %s%s GiB", table.Gibibytes(m.Baseline),
		table.Gibibytes(m.Loaded), table.Gibibytes(m.Peak), total)
	add(w.PowerMaxW != nil, "power mean %s, median %s, max %s, idle %s, limit %s W", table.Number(w.PowerMeanW, 1),
		table.Number(w.PowerMedianW, 1),
		table.Number(w.PowerMaxW, 1), table.Number(g.IdleW, 1), table.Number(g.PowerLimitW, 0))
	add(w.EnergyJ != nil, "energy %s J, above idle %s J", table.Number(w.EnergyJ, 1), table.Number(w.AboveIdleJ, 1))
	add(w.EnergyJ == nil && w.NoEnergy != "", "no energy: %s", text.Clean(w.NoEnergy))
	add(w.CounterJ != nil, "by its counter %s J", table.Number(w.CounterJ, 1))
	add(w.BusyMean != nil, "busy %s %%", table.Scaled(w.BusyMean, 100, 1))
	add(w.CoreHzMean != nil, "core %s MHz (lowest %s)", table.Scaled(w.CoreHzMean, 1e-6, 0),
		table.Scaled(w.CoreHzMin, 1e-6, 0))
	add(w.TempMaxC != nil, "%s C (hottest %s)", table.Number(w.TempMeanC, 0), table.Number(w.TempMaxC, 0))
	add(w.MemTempMaxC != nil, "memory at most %s C", table.Number(w.MemTempMaxC, 0))
	if w.Throttle == nil {
		return append(parts, "throttling unknown")
	}

	return append(parts, "throttling "+cmp.Or(grid.ThrottleText(w.Throttle), "none"))
}

func printEfficiency(p *table.Printer, what string, e *results.Efficiency) {
	if e == nil || e.JPerRequest == nil && e.JPerOutputToken == nil {
		return
	}
	p.Wrapped("  ", fmt.Sprintf("%s: %s J/output token, %s J/token, %s J/request, %s output tok/s per W", what,
		table.Number(e.JPerOutputToken, 3), table.Number(e.JPerTotalToken, 3), table.Number(e.JPerRequest, 2),
		table.Number(e.TokensPerSPerW, 3)))
}

// samplingText says how the figures were read, and what that took.
func samplingText(t *results.Telemetry) string {
	if len(t.GPUs) == 0 {
		return ""
	}
	text := fmt.Sprintf("read by %s: %s, %d failed, longest gap %s s",
		cmp.Or(text.Clean(strings.Join(t.Samplers, ", ")), "no sampler"), text.Count(t.Readings, "reading"), t.Gaps,
		table.Number(t.LongestGapS, 2))
	if t.PeriodS != nil {
		text += fmt.Sprintf(", requested every %s s", table.Number(t.PeriodS, 2))
	}
	if t.CPUShare != nil {
		text += fmt.Sprintf(", which took %s %% of a core", table.Number(new(100**t.CPUShare), 2))
	}
	return text
}

// MemoryUsage is the video memory of a step's GPUs when its servers had been
// loaded and warmed up, and when its pass had ended: one line a GPU, as in the
// table of nvidia-smi. It is nil where no GPU said anything.
func MemoryUsage(r *results.Result) []byte {
	if grid.SumOf(r) == nil {
		return nil
	}

	var names []string
	var before, after strings.Builder
	known := false
	for _, g := range r.Telemetry.GPUs {
		names = text.AppendNew(names, text.Clean(cmp.Or(g.Name, g.Device)))
		known = known || g.VRAMLoaded != nil || g.VRAMEnd != nil
		fmt.Fprintf(&before, "%s %s\n", mib(g.VRAMLoaded), mib(g.VRAMBytes))
		fmt.Fprintf(&after, "%s %s\n", mib(g.VRAMEnd), mib(g.VRAMBytes))
	}

	if !known {
		return nil
	}

	return []byte("GPU Name: " + strings.Join(names, ", ") + "\nWarm up status:\n" + before.String() +
		"After Benchmark status:\n" + after.String())
}

func mib(v *int64) string {
	if v == nil {
		return "N/A"
	}
	return fmt.Sprintf("%dMiB", *v/(1<<20))
}
