package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

const (
	extrapolatedMark   = "#"
	extrapolatedLegend = extrapolatedMark + " extrapolated: one replica ran with its share of the load, and its rates are multiplied; never called best"
)

// extrapolatedLine stands above the figures of a step that are extrapolated.
func extrapolatedLine(r *results.Result) string {
	if r.Extrapolated == nil {
		return ""
	}
	return "EXTRAPOLATED, not measured on all replicas: " + versus.ExtrapolatedText(*r.Extrapolated)
}

// extrapolated adds to the block of the replica that ran what all would have.
func (b *block) extrapolated(e *results.Extrapolation) {
	if e == nil {
		return
	}
	b.title(fmt.Sprintf(" Extrapolated x%d ", e.Factor), '=')
	b.number("Benchmark duration (s):", &e.DurationS)
	b.number("Request throughput (req/s):", e.RequestThroughput)
	b.number("Output token throughput (tok/s):", e.OutputThroughput)
	b.number("Total token throughput (tok/s):", e.TotalTokenThroughput)
	b.out.WriteString(strings.Repeat("=", blockWidth) + "\n")
}

// extrapolationFields are the columns of summary.csv about it, where a step is
// extrapolated.
func extrapolationFields(run *results.Run) []csvField {
	if !slices.ContainsFunc(run.Steps, func(s results.Step) bool { return s.Result.Extrapolated != nil }) {
		return nil
	}
	field := func(name string, of func(*results.Extrapolation) int) csvField {
		return ofPart(name, func(r *results.Result) *results.Extrapolation { return r.Extrapolated },
			func(e *results.Extrapolation) string { return strconv.Itoa(of(e)) })
	}
	return []csvField{
		field("extrapolated_factor", func(e *results.Extrapolation) int { return e.Factor }),
		field("extrapolated_share", func(e *results.Extrapolation) int { return e.Share }),
	}
}
