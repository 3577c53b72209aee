package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// gpuFields are the columns of summary.csv about GPUs, where a step has any.
func gpuFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return grid.SumOf(s.Result) != nil }) {
		return nil
	}

	fields := []csvField{ofGPUs("gpus",
		func(r *results.Result, _ *results.GPUFigures) string { return strconv.Itoa(len(r.Telemetry.GPUs)) })}
	for _, f := range []struct {
		name  string
		value func(*results.GPUFigures) *int64
	}{
		{"vram_baseline_bytes", func(g *results.GPUFigures) *int64 { return g.VRAMBaseline }},
		{"vram_loaded_bytes", func(g *results.GPUFigures) *int64 { return g.VRAMLoaded }},
		{"vram_peak_bytes", func(g *results.GPUFigures) *int64 { return g.VRAMPeak }},
		{"memory_peak_bytes", func(g *results.GPUFigures) *int64 { return g.MemoryPeak }},
	} {
		fields = append(fields, ofGPUs(f.name,
			func(_ *results.Result, g *results.GPUFigures) string { return table.ExactInt(f.value(g)) }))
	}

	for _, f := range []struct {
		name  string
		value func(*results.GPUFigures) *float64
	}{
		{"power_idle_w", func(g *results.GPUFigures) *float64 { return g.IdleW }},
		{"power_mean_w", grid.MeanPower},
		{"power_median_w", func(g *results.GPUFigures) *float64 { return g.Pass.PowerMedianW }},
		{"power_max_w", func(g *results.GPUFigures) *float64 { return g.Pass.PowerMaxW }},
		{"power_limit_w", func(g *results.GPUFigures) *float64 { return g.PowerLimitW }},
		{"energy_j", func(g *results.GPUFigures) *float64 { return g.Pass.EnergyJ }},
		{"energy_above_idle_j", func(g *results.GPUFigures) *float64 { return g.Pass.AboveIdleJ }},
		{"energy_counter_j", func(g *results.GPUFigures) *float64 { return g.Pass.CounterJ }},
		{"gpu_busy_mean", func(g *results.GPUFigures) *float64 { return g.Pass.BusyMean }},
		{"core_hz_mean", func(g *results.GPUFigures) *float64 { return g.Pass.CoreHzMean }},
		{"temperature_max_c", func(g *results.GPUFigures) *float64 { return g.Pass.TempMaxC }},
	} {
		fields = append(fields, ofGPUs(f.name,
			func(_ *results.Result, g *results.GPUFigures) string { return table.Exact(f.value(g)) }))
	}

	for _, f := range []struct {
		name  string
		value func(*results.Efficiency) *float64
	}{
		{"j_per_output_token", func(e *results.Efficiency) *float64 { return e.JPerOutputToken }},
		{"j_per_total_token", func(e *results.Efficiency) *float64 { return e.JPerTotalToken }},
		{"j_per_request", func(e *results.Efficiency) *float64 { return e.JPerRequest }},
		{"output_tokens_per_s_per_w", func(e *results.Efficiency) *float64 { return e.TokensPerSPerW }},
	} {
		fields = append(fields, ofGPUs(f.name,
			func(r *results.Result, _ *results.GPUFigures) string { return table.Exact(grid.Efficiency(r, f.value)) }))
	}

	return append(fields, ofGPUs("throttle",
		func(_ *results.Result, g *results.GPUFigures) string { return throttleCodes(g.Pass.Throttle) }))
}

// ofGPUs is empty for steps without GPUs.
func ofGPUs(name string, value func(*results.Result, *results.GPUFigures) string) csvField {
	return ofStep(name, func(r *results.Result) string {
		sum := grid.SumOf(r)
		if sum == nil {
			return ""
		}
		return value(r, sum)
	})
}

// throttleCodes are the reasons that were in force, joined.
func throttleCodes(shares map[string]float64) string {
	var codes []string
	for _, reason := range slices.Sorted(maps.Keys(shares)) {
		if shares[reason] > 0 {
			codes = append(codes, text.Clean(reason))
		}
	}
	return strings.Join(codes, ";")
}
