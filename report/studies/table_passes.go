package studies

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// passColumn is a figure of method sqzb, with its unit and the pass that it
// comes from.
type passColumn struct {
	head, unit, pass string
	scale            float64
	of               func(*results.SQZB) *float64
}

const (
	firstPass  = "pass 1"
	secondPass = "pass 2"
	bothPasses = "pass 1 - 2"
)

func passColumns() []passColumn {
	const ms = 1000

	return []passColumn{
		{"input", "tokens", firstPass, 1, func(s *results.SQZB) *float64 { return detail.OfInt(s.InputTokens) }},
		{"generated", "tokens", firstPass, 1, func(s *results.SQZB) *float64 { return detail.OfInt(s.OutputTokens) }},
		{"E2E latency", "s", firstPass, 1, func(s *results.SQZB) *float64 { return s.E2ELatencyS }},
		{
			"summarization latency", "s", secondPass, 1,
			func(s *results.SQZB) *float64 { return s.SummarizationLatencyS },
		},
		{"generation latency", "s", bothPasses, 1, func(s *results.SQZB) *float64 { return s.GenerationLatencyS }},
		{
			"summarization throughput", "input tok/s", secondPass, 1,
			func(s *results.SQZB) *float64 { return s.SummarizationThroughput },
		},
		{"energy", "J/input tok", secondPass, 1, func(s *results.SQZB) *float64 { return s.JPerInputToken }},
		{"E2E throughput", "generated tok/s", firstPass, 1, func(s *results.SQZB) *float64 { return s.E2EThroughput }},
		{
			"generation throughput", "generated tok/s", bothPasses, 1,
			func(s *results.SQZB) *float64 { return s.GenerationThroughput },
		},
		{"mean TTFT, with queueing", "ms", firstPass, ms, func(s *results.SQZB) *float64 { return s.TTFTMeanS }},
		{"mean TTFT, without queueing", "ms", firstPass, ms, func(s *results.SQZB) *float64 { return s.TTFTUnqueuedS }},
		{"mean TPOT, over n - 1 tokens", "ms", firstPass, ms, func(s *results.SQZB) *float64 { return s.TPOTMeanS }},
		{"mean TPOT, over n tokens", "ms", firstPass, ms, func(s *results.SQZB) *float64 { return s.TPOTByTokensS }},
		{"cached", "input tokens", firstPass, 1, func(s *results.SQZB) *float64 { return s.CachedInPass1 }},
		{"cached", "input tokens", secondPass, 1, func(s *results.SQZB) *float64 { return s.CachedTokens }},
	}
}

// PassParts has a row for each figure and a column for each variant and point:
// the figures are many, and the pairs of passes few.
func PassParts(run *results.Run) []table.Piece {
	cells := slices.DeleteFunc(studyCells(run), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Steps, func(r *results.Result) bool { return r.SQZB != nil })
	})

	if len(cells) == 0 {
		return nil
	}

	c := table.Table{
		Columns: []table.Column{table.Words("figure"), table.Words("unit"), table.Words("from")},
		Keys:    []int{0, 1, 2},
	}
	for _, cell := range cells {
		c.Columns = append(c.Columns, table.Numbers(grid.VariantName(cell), text.Clean(cell.Point)))
	}

	for _, col := range passColumns() {
		r := table.NewRow(col.head, col.unit, col.pass)
		for _, cell := range cells {
			text := table.Missing
			v := cell.MeanOf(func(r *results.Result) *float64 {
				if r.SQZB == nil {
					return nil
				}
				return col.of(r.SQZB)
			})
			if v != nil {
				shown := *v * col.scale
				text = table.Number(&shown, passDigits(col, shown))
				if col.pass == bothPasses {
					text = withError(cell, text, shown, func(v float64) string {
						return table.Number(&v, passDigits(col, v))
					})
				}
			}
			r.Cells = append(r.Cells, table.Cell{Text: text})
		}
		c.Rows = append(c.Rows, r)
	}

	if slices.ContainsFunc(cells, compare.Cell.IsSimulated) {
		c.Legend = []string{grid.SimLegend}
	}

	return []table.Piece{{Title: "Two passes", Table: c, Notes: passNotes(cells)}}
}

// tooSmall stands for a difference of the passes that is within its error.
const tooSmall = "too small to tell"

// withError adds to a figure of the passes' difference its error, which follows
// from the spreads of both passes over the repeats: half of the 95 % interval of a
// difference of means, by Welch. One repeat has none.
func withError(cell compare.Cell, shown string, v float64, number func(float64) string) string {
	of := func(figure func(*results.SQZB) *float64) []float64 {
		return cell.PerLife(func(r *results.Result) *float64 {
			if r.SQZB == nil {
				return nil
			}
			return figure(r.SQZB)
		})
	}
	whole := of(func(s *results.SQZB) *float64 { return s.E2ELatencyS })
	first := of(func(s *results.SQZB) *float64 { return s.SummarizationLatencyS })
	difference, half, ok := compare.DifferenceOfMeans(whole, first, compare.DefaultRule().Confidence)
	switch {
	case !ok:
		return shown
	case difference <= half:
		return tooSmall
	}
	return shown + " ± " + number(v*half/difference) // of a rate the same share
}

// passDigits shows counts whole.
func passDigits(col passColumn, v float64) int {
	if col.unit == "tokens" || col.unit == "input tokens" {
		return 0
	}
	return max(studyDigits, table.Decimals(v))
}

func passNotes(cells []compare.Cell) []string {
	notes := []string{
		"Pass 1 asks for whole answers, pass 2 for one token each, on a server of its own with the same " +
			"configuration. Their difference is an approximation: prefill and decode overlap in pass 1 and not in " +
			"pass 2.",
	}

	for _, cell := range cells {
		name := text.Clean(cell.Variant) + ", " + text.Clean(cell.Point)
		for _, r := range cell.Steps {
			switch {
			case r.SQZB == nil:
				notes = append(notes, fmt.Sprintf("%s, repeat %d: %s", name, r.Step.Repeat, versus.Verbatim(r)))
			case r.SQZB.Undefined != "":
				notes = append(notes, fmt.Sprintf("%s, repeat %d: the generation is not defined: %s", name,
					r.Step.Repeat, text.Clean(r.SQZB.Undefined)))
			case r.Verdict != results.OK:
				notes = append(notes, fmt.Sprintf("%s, repeat %d: %s", name, r.Step.Repeat, versus.Verbatim(r)))
			}
		}
		if s := firstSQZB(cell); s != nil {
			if s.QueueMeanS == nil {
				notes = append(notes, name+": the server does not count the time in its queue: there is no TTFT "+
					"without it")
			}
			notes = append(notes, fmt.Sprintf("%s: the first token of each of %s is made by the prefill, and counted "+
				"in the generation throughput", name, text.Count(s.FirstTokens, "answer")))
		}
	}

	return notes
}

func firstSQZB(c compare.Cell) *results.SQZB {
	for _, r := range c.Counted {
		if r.SQZB != nil {
			return r.SQZB
		}
	}
	return nil
}
