package grid

import (
	"fmt"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// StepTable has the columns of the comparison and of the table of GPUs, for
// each step by itself. Nothing is best in it: one step proves nothing.
func StepTable(run *results.Run) table.Table {
	cells := make([]compare.Cell, len(run.Steps))
	for i, s := range run.Steps {
		cells[i] = compare.Cells([]*results.Result{s.Result}, nil, nil)[0]
	}

	t := table.Table{Columns: []table.Column{
		table.Words("step"), table.Words("variant"), table.Words("point"), table.Numbers("repeat", ""),
		table.Words("verdict"),
	}}
	sent := !onlyPrograms(cells)
	if sent {
		t.Columns = append(t.Columns, table.Numbers("ok/asked", "requests"))
	}
	for i := range run.Steps {
		r := run.Steps[i].Result
		t.Rows = append(t.Rows, table.NewRow(
			text.Clean(r.Step.ID),
			VariantName(cells[i]),
			text.Clean(r.Step.Point),
			fmt.Sprint(r.Step.Repeat),
			VerdictName(&run.Steps[i]),
		))
		if sent {
			t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: requests(cells[i])})
		}
	}

	cols := columns(cells)
	for _, col := range gpuTableColumns() {
		if !slices.ContainsFunc(cols, func(c Column) bool { return c.Head == col.Head && c.Unit == col.Unit }) &&
			known(col, cells) {
			cols = append(cols, col)
		}
	}

	t.Legend = MarkLegend(addColumns(&t, cols, cells))
	for i := range t.Rows {
		t.Rows[i].Step = run.Steps[i].Result.Step.ID
		for k := range t.Rows[i].Cells {
			t.Rows[i].Cells[k].Best = false
		}
	}

	return t
}
