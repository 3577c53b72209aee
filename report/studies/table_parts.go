package studies

import (
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// PartParts are the figures of each part of the load, such as a class of requests:
// a row for each at each point of each variant, means over the repeats.
func PartParts(run *results.Run) []table.Piece {
	var rows []detail.PartRow
	cells := studyCells(run)
	for _, cell := range cells {
		rows = append(rows, partRows(cell)...)
	}
	if len(rows) == 0 {
		return nil
	}

	t := detail.PartTable([]string{"variant", "point"}, rows)
	if slices.ContainsFunc(cells, compare.Cell.IsSimulated) {
		t.Legend = append(t.Legend, grid.SimLegend)
	}
	return []table.Piece{{Title: "Parts of the load", Table: t}}
}

// partRows are the parts of a cell, in the order of its first step.
func partRows(cell compare.Cell) []detail.PartRow {
	var rows []detail.PartRow
	for _, r := range cell.Counted {
		for _, part := range r.Parts {
			name := detail.PartName(part)
			at := slices.IndexFunc(rows, func(row detail.PartRow) bool { return row.Part == name })
			if at < 0 {
				at = len(rows)
				rows = append(rows, detail.PartRow{
					Keys: []string{grid.VariantName(cell), text.Clean(cell.Point)}, Part: name,
				})
			}
			rows[at].Figures = append(rows[at].Figures, part.Figures)
		}
	}
	return rows
}
