package grid

import (
	"math"
	"slices"
	"strconv"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// direction says which end of a column is the good one.
type direction int

// The directions.
const (
	higherIsBetter direction = iota
	LowerIsBetter
)

// Column is a figure of the comparison table.
type Column struct {
	Head   string // what
	Unit   string // second line: unit or percentile
	Better direction
	Scale  float64 // base unit to shown unit
	P      float64 // the percentile shown; 0: none
	Figure func(*results.Figures) *float64
	Sample func(*results.Figures) results.Dist // behind a percentile; nil: none
	Gaps   bool                                // measures gaps between chunks, meant as gaps between tokens

	telemetry func(*results.Result) *float64 // in place of figure; nil: it is of the figures
	power     bool                           // it depends on the power of the GPUs
	unranked  bool                           // no end of it is good
	money     bool                           // it needs the legend of costs
}

// Of is the column's value of a cell.
func (c Column) Of(cell compare.Cell) *float64 {
	if c.telemetry != nil {
		return cell.MeanOf(c.telemetry)
	}
	return cell.Mean(c.Figure)
}

// perLife is the column's value of each server life of a cell.
func (c Column) perLife(cell compare.Cell) []float64 {
	if c.telemetry != nil {
		return cell.PerLife(c.telemetry)
	}
	return cell.PerLife(func(r *results.Result) *float64 {
		if f := r.Headline(); f != nil {
			return c.Figure(f)
		}
		return nil
	})
}

// spread is half of the 95 % interval of a cell's mean over server starts, in
// percent of it: " ±0.8%". It is empty where one life tells nothing, and in
// columns that are not ranked.
func (c Column) spread(cell compare.Cell) string {
	const confidence = 0.95
	if c.unranked {
		return ""
	}

	s := compare.Arm{Values: c.perLife(cell)}.Summarize(confidence)
	if s.High == nil || *s.Mean == 0 {
		return ""
	}

	percent := 100 * math.Abs((*s.High-*s.Mean) / *s.Mean)
	switch {
	case percent < 0.05:
		return " ±<0.1%"
	case percent < 9.95:
		return " ±" + strconv.FormatFloat(percent, 'f', 1, 64) + "%"
	}

	return " ±" + strconv.FormatFloat(percent, 'f', 0, 64) + "%"
}

// columns are the figures of the comparison table, in order: those of the GPUs
// only where a step has them.
func columns(cells []compare.Cell) []Column {
	if onlyLlamaBench(cells) {
		return gpuColumns(cells)
	}
	return slices.Concat(latencyColumns(), gpuColumns(cells), costColumn(cells))
}

// onlyLlamaBench reports whether no cell has figures of requests, and some have
// tests of llama-bench, which stand in a table of their own.
func onlyLlamaBench(cells []compare.Cell) bool {
	tests := false
	for _, c := range cells {
		for _, r := range c.Steps {
			if r.Figures != nil {
				return false
			}
			tests = tests || len(r.LlamaBench) > 0
		}
	}
	return tests
}

func latencyColumns() []Column {
	return []Column{
		Rate("req/s", "", func(f *results.Figures) *float64 { return f.RequestThroughput }),
		Rate("output", "tok/s", func(f *results.Figures) *float64 { return f.OutputThroughput }),
		Rate("total", "tok/s", func(f *results.Figures) *float64 { return f.TotalTokenThroughput }),
		median("TTFT ms", Ttft), percentile("TTFT ms", Ttft),
		median("TPOT ms", Tpot), percentile("TPOT ms", Tpot),
		gapsOf(percentile("ITL ms", Itl)),
		median("E2EL ms", E2el),
	}
}

// Ttft is the time to the first token.
func Ttft(f *results.Figures) results.Dist { return f.TTFT }

// Tpot is the time per output token after the first.
func Tpot(f *results.Figures) results.Dist { return f.TPOT }

// Itl is the time between chunks where there is none between tokens; such
// steps carry a warning and a mark.
func Itl(f *results.Figures) results.Dist {
	if f.ITL.N == 0 {
		return f.ICL
	}
	return f.ITL
}

// E2el is the time of a whole request.
func E2el(f *results.Figures) results.Dist { return f.E2EL }

// Rate is a column of a figure of which more is better.
func Rate(head, unit string, figure func(*results.Figures) *float64) Column {
	return Column{Head: head, Unit: unit, Scale: 1, Figure: figure}
}

func median(head string, sample func(*results.Figures) results.Dist) Column {
	return Column{
		Head: head, Unit: "median", Scale: 1000, Better: LowerIsBetter,
		Figure: func(f *results.Figures) *float64 { return sample(f).Median },
	}
}

// percentile is the p99 of a sample.
func percentile(head string, sample func(*results.Figures) results.Dist) Column {
	const p = 99
	return Column{
		Head: head, Unit: metrics.PercentileName(p), Scale: 1000, Better: LowerIsBetter, P: p, Sample: sample,
		Figure: func(f *results.Figures) *float64 { return metrics.At(sample(f), p) },
	}
}

func gapsOf(c Column) Column {
	c.Gaps = true
	return c
}

// Mark is what a reader must know of a cell's value: thinMark, chunksMark,
// throttleMark, extrapolatedMark, several or nothing. Marked values are never best.
func (c Column) Mark(cell compare.Cell) string {
	mark := ""
	if c.thin(cell) {
		mark = ThinMark
	}
	if c.Gaps && slices.ContainsFunc(cell.Counted, severalTokensAChunk) {
		mark += chunksMark
	}
	if c.power && slices.ContainsFunc(cell.Counted, throttled) {
		mark += ThrottleMark
	}
	if versus.ExtrapolationOf(cell) != nil {
		mark += ExtrapolatedMark
	}
	return mark
}

func severalTokensAChunk(r *results.Result) bool {
	return slices.ContainsFunc(r.Warnings, func(w results.Warning) bool { return w.Code == results.WarnMultiToken })
}

// thin reports whether a repeat of the cell has too few samples for the
// column's percentile.
func (c Column) thin(cell compare.Cell) bool {
	if c.Sample == nil {
		return false
	}
	for _, r := range cell.Counted {
		if r.Figures != nil && c.Sample(r.Figures).N < metrics.SamplesFor(c.P) {
			return true
		}
	}
	return false
}
