package report

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

const (
	higherIsBetter direction = iota
	lowerIsBetter
)

// column is a figure of the comparison table.
type column struct {
	head   string // what
	unit   string // second line: unit or percentile
	better direction
	scale  float64 // base unit to shown unit
	p      float64 // the percentile shown; 0: none
	figure func(*results.Figures) *float64
	sample func(*results.Figures) results.Dist // behind a percentile; nil: none
	gaps   bool                                // measures gaps between chunks, meant as gaps between tokens

	telemetry func(*results.Result) *float64 // in place of figure; nil: it is of the figures
	power     bool                           // it depends on the power of the GPUs
	unranked  bool                           // no end of it is good
	money     bool                           // it needs the legend of costs
}

// of is the column's value of a cell.
func (c column) of(cell compare.Cell) *float64 {
	if c.telemetry != nil {
		return cell.MeanOf(c.telemetry)
	}
	return cell.Mean(c.figure)
}

// perLife is the column's value of each server life of a cell.
func (c column) perLife(cell compare.Cell) []float64 {
	if c.telemetry != nil {
		return cell.PerLife(c.telemetry)
	}
	return cell.PerLife(func(r *results.Result) *float64 {
		if f := r.Headline(); f != nil {
			return c.figure(f)
		}
		return nil
	})
}

// spread is half of the 95 % interval of a cell's mean over server lives, in
// percent of it: " ±0.8%". It is empty where one life tells nothing, and in
// columns that are not ranked.
func (c column) spread(cell compare.Cell) string {
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
func columns(cells []compare.Cell) []column {
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

func latencyColumns() []column {
	return []column{
		rate("req/s", "", func(f *results.Figures) *float64 { return f.RequestThroughput }),
		rate("output", "tok/s", func(f *results.Figures) *float64 { return f.OutputThroughput }),
		rate("total", "tok/s", func(f *results.Figures) *float64 { return f.TotalTokenThroughput }),
		median("TTFT ms", ttft), percentile("TTFT ms", ttft),
		median("TPOT ms", tpot), percentile("TPOT ms", tpot),
		gapsOf(percentile("ITL ms", itl)),
		median("E2EL ms", e2el),
	}
}

func ttft(f *results.Figures) results.Dist { return f.TTFT }
func tpot(f *results.Figures) results.Dist { return f.TPOT }

// itl is the time between chunks where there is none between tokens; such
// steps carry a warning and a mark.
func itl(f *results.Figures) results.Dist {
	if f.ITL.N == 0 {
		return f.ICL
	}
	return f.ITL
}

func e2el(f *results.Figures) results.Dist { return f.E2EL }

func rate(head, unit string, figure func(*results.Figures) *float64) column {
	return column{head: head, unit: unit, scale: 1, figure: figure}
}

func median(head string, sample func(*results.Figures) results.Dist) column {
	return column{
		head: head, unit: "median", scale: 1000, better: lowerIsBetter,
		figure: func(f *results.Figures) *float64 { return sample(f).Median },
	}
}

// percentile is the p99 of a sample.
func percentile(head string, sample func(*results.Figures) results.Dist) column {
	const p = 99
	return column{
		head: head, unit: metrics.PercentileName(p), scale: 1000, better: lowerIsBetter, p: p, sample: sample,
		figure: func(f *results.Figures) *float64 { return metrics.At(sample(f), p) },
	}
}

func gapsOf(c column) column {
	c.gaps = true
	return c
}

// mark is what a reader must know of a cell's value: thinMark, chunksMark,
// throttleMark, extrapolatedMark, several or nothing. Marked values are never best.
func (c column) mark(cell compare.Cell) string {
	mark := ""
	if c.thin(cell) {
		mark = thinMark
	}
	if c.gaps && slices.ContainsFunc(cell.Counted, severalTokensAChunk) {
		mark += chunksMark
	}
	if c.power && slices.ContainsFunc(cell.Counted, throttled) {
		mark += throttleMark
	}
	if versus.ExtrapolationOf(cell) != nil {
		mark += extrapolatedMark
	}
	return mark
}

func severalTokensAChunk(r *results.Result) bool {
	return slices.ContainsFunc(r.Warnings, func(w results.Warning) bool { return w.Code == results.WarnMultiToken })
}

// thin reports whether a repeat of the cell has too few samples for the
// column's percentile.
func (c column) thin(cell compare.Cell) bool {
	if c.sample == nil {
		return false
	}
	for _, r := range cell.Counted {
		if r.Figures != nil && c.sample(r.Figures).N < metrics.SamplesFor(c.p) {
			return true
		}
	}
	return false
}
