package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/results"
)

// gpuFields are the columns of summary.csv about GPUs, where a step has any.
func gpuFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return grid.SumOf(s.Result) != nil }) {
		return nil
	}

	fields := []csvField{ofPart("gpus", withGPUs, func(t *results.Telemetry) string {
		return strconv.Itoa(len(t.GPUs))
	})}
	fields = append(fields, ofCatalog(catalog.All(catalog.Hardware, catalog.Heat, catalog.Energy)...)...)
	return append(fields, ofPart("throttle", withGPUs,
		func(t *results.Telemetry) string { return throttleCodes(t.Sum.Pass.Throttle) }))
}

// withGPUs is null for steps without GPUs.
func withGPUs(r *results.Result) *results.Telemetry {
	if grid.SumOf(r) == nil {
		return nil
	}
	return r.Telemetry
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
