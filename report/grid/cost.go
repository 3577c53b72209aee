package grid

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// costLegend is beside every table with a cost in it.
const costLegend = "cost: GPUs x hours of the measured window x price, or energy of the GPUs x price (idle power " +
	"included, host and cooling not), / tokens of the successful requests"

// CompareCosts is the table of costs, one row a cell; it has no rows where no
// price is known.
func CompareCosts(run *results.Run) table.Table {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, run.Results()), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted,
			func(r *results.Result) bool { return r.Cost != nil && r.Figures != nil })
	})

	details := columnsOf(func(f catalog.Figure) catalog.Heading { return f.Detail }, catalog.All(catalog.Cost))
	t, marks := detailTable(cells, paidGPUs, priced(details, cells), table.Words("price"), versus.PriceText)
	if len(t.Rows) > 0 {
		t.Legend = append(MarkLegend(marks), costLegend)
	}

	return t
}

// TestCostLegend is beside the costs of llama-bench's tests.
const TestCostLegend = "cost: GPUs x price of an hour / 3600 / (t/s) x 1,000,000; the energy of a single test is not " +
	"known"

// CostParts draw the table of costs and what is missing in it.
func CostParts(run *results.Run) []table.Piece {
	p := table.Piece{Title: "Cost", Table: CompareCosts(run), Notes: costNotes(run)}
	if len(p.Table.Rows) == 0 && len(p.Notes) == 0 {
		return nil
	}
	return []table.Piece{p}
}

func paidGPUs(c compare.Cell) string {
	for _, r := range c.Counted {
		if r.Cost != nil && r.Cost.GPUs != nil {
			return strconv.Itoa(*r.Cost.GPUs)
		}
	}
	return table.Missing
}

// costNotes say why costs are not known.
func costNotes(run *results.Run) []string {
	var lines []string
	of := make(map[string][]string)
	for _, s := range run.Steps {
		if r := s.Result; r.Cost != nil && r.Cost.Reason != "" && r.Measured() {
			lines = text.AppendNew(lines, r.Cost.Reason)
			of[r.Cost.Reason] = append(of[r.Cost.Reason], r.Step.ID)
		}
	}
	for i, why := range lines {
		lines[i] = fmt.Sprintf("no cost of %s: %s", text.Few(of[why]), text.Clean(why))
	}
	return lines
}
