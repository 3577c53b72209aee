package grid

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Column is a figure of a table.
type Column struct {
	catalog.Heading

	Figure   catalog.Figure
	Unranked bool // no end of it is good here

	unmarked bool // throttling is not marked
}

// ColumnOf is the column of a figure under a heading.
func ColumnOf(f catalog.Figure, h catalog.Heading) Column {
	return Column{Heading: h, Figure: f, Unranked: f.Neutral}
}

// Of is the column's value of a cell.
func (c Column) Of(cell compare.Cell) *float64 { return cell.MeanOf(c.Figure.InTable) }

// sample is what the figure is a statistic of.
func (c Column) sample(f *results.Figures) results.Dist {
	if c.Figure.Shown != nil {
		return c.Figure.Shown(f)
	}
	return c.Figure.Sample(f)
}

// spread is half of the 95 % interval of a cell's mean over server starts, in
// percent of it: " ±0.8%". It is empty where one life says nothing, and in
// columns that are not ranked.
func (c Column) spread(cell compare.Cell) string {
	const confidence = 0.95
	if c.Unranked {
		return ""
	}

	half := compare.Sample{Values: cell.PerLife(c.Figure.InTable)}.Summarize(confidence).HalfWidth()
	switch {
	case half == nil:
		return ""
	case *half < 0.0005:
		return " ±<0.1%"
	case *half < 0.0995:
		return " ±" + table.Scaled(half, 100, 1) + "%"
	}

	return " ±" + table.Scaled(half, 100, 0) + "%"
}

// columns are the figures of the comparison table, in order: those of GPUs and
// costs only where a cell has them.
func columns(cells []compare.Cell) []Column {
	always, groups := []catalog.Group{catalog.Pass, catalog.Latency}, []catalog.Group{catalog.Hardware, catalog.Energy}
	if onlyPrograms(cells) {
		always = nil
	} else {
		groups = append(groups, catalog.Cost)
	}

	where := func(f catalog.Figure) catalog.Heading { return f.Column }
	figures := catalog.WithTail(catalog.All(always...), stepsOf(cells))
	optional := slices.DeleteFunc(columnsOf(where, catalog.All(groups...)), func(c Column) bool {
		return !known(c, cells)
	})
	return priced(append(columnsOf(where, figures), optional...), cells)
}

func stepsOf(cells []compare.Cell) []*results.Result {
	var steps []*results.Result
	for _, c := range cells {
		steps = append(steps, c.Steps...)
	}
	return steps
}

// columnsOf are the columns of figures that have a heading there.
func columnsOf(heading func(catalog.Figure) catalog.Heading, figures []catalog.Figure) []Column {
	var all []Column
	for _, f := range figures {
		if h := heading(f); h != (catalog.Heading{}) {
			all = append(all, ColumnOf(f, h))
		}
	}
	return all
}

// priced puts the currency into headings.
func priced(all []Column, cells []compare.Cell) []Column {
	currency := versus.CurrencyOf(cells...)
	for i := range all {
		all[i].Head = strings.ReplaceAll(all[i].Head, catalog.Currency, currency)
	}
	return all
}

// onlyPrograms reports whether no cell has figures of requests, and some have
// others, which are in a table of their own.
func onlyPrograms(cells []compare.Cell) bool {
	steps := stepsOf(cells)
	sent := slices.ContainsFunc(steps, func(r *results.Result) bool { return r.Figures != nil })
	return !sent && slices.ContainsFunc(steps, (*results.Result).OfProgram)
}

// Mark is what a reader must know of a cell's value: ThinMark, chunksMark,
// ThrottleMark, ExtrapolatedMark, several or nothing. Marked values are never best.
func (c Column) Mark(cell compare.Cell) string {
	mark := ""
	if c.thin(cell) {
		mark = ThinMark
	}
	if c.Figure.Shown != nil && slices.ContainsFunc(cell.Counted, severalTokensAChunk) {
		mark += chunksMark
	}
	if c.Figure.Powered && !c.unmarked && slices.ContainsFunc(cell.Counted, throttled) {
		mark += ThrottleMark
	}
	if cell.Extrapolated() != nil {
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
	if c.Figure.P == 0 {
		return false
	}
	for _, r := range cell.Counted {
		if r.Figures != nil && c.sample(r.Figures).N < metrics.SamplesFor(c.Figure.P) {
			return true
		}
	}
	return false
}
