package grid

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// SumOf is what the GPUs of a step did together; null where there were none.
func SumOf(r *results.Result) *results.GPUFigures {
	if r.Telemetry == nil {
		return nil
	}
	return r.Telemetry.Sum
}

func known(c Column, cells []compare.Cell) bool {
	return slices.ContainsFunc(cells, func(cell compare.Cell) bool { return c.Of(cell) != nil })
}

// throttled reports whether a GPU of the step slowed down for another reason
// than its power limit.
func throttled(r *results.Result) bool {
	sum := SumOf(r)
	if sum == nil {
		return false
	}
	for reason, share := range sum.Pass.Throttle {
		if reason != results.ThrottlePower && share > 0 {
			return true
		}
	}
	return false
}

// ThrottleText lists reasons with their share of time, the largest first.
func ThrottleText(shares map[string]float64) string {
	reasons := slices.SortedStableFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		if shares[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %%", text.Clean(reason),
				strconv.FormatFloat(100*shares[reason], 'f', 1, 64)))
		}
	}
	return strings.Join(parts, ", ")
}

// CompareGPUs is the table of what the GPUs did, one row a cell; it has no
// rows where no step has any.
func CompareGPUs(run *results.Run) table.Table {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, run.Results()), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return SumOf(r) != nil })
	})

	throttling := table.Column{Head: "throttling", Unit: "share of time", Text: true}
	t, _ := detailTable(cells, gpusOf, gpuTableColumns(), throttling, throttlingOf)
	return t
}

// detailTable has a row for each cell: variant, point, GPUs, the columns that a cell
// knows, and a last one of words. marks are those of its figures. It has no rows without
// cells.
func detailTable(cells []compare.Cell, gpus func(compare.Cell) string, columns []Column, last table.Column,
	lastOf func(compare.Cell) string,
) (t table.Table, marks string) {
	if len(cells) == 0 {
		return t, ""
	}

	t.Columns = []table.Column{table.Words("variant"), table.Words("point"), table.Numbers("GPUs", "")}
	for i, cell := range cells {
		row := table.NewRow(VariantName(cell), text.Clean(cell.Point), gpus(cell))
		row.NewGroup = i > 0 && cell.Point != cells[i-1].Point
		t.Rows = append(t.Rows, row)
	}

	columns = slices.DeleteFunc(columns, func(c Column) bool { return !known(c, cells) })
	marks = addColumns(&t, columns, cells)
	t.Columns = append(t.Columns, last)
	for i, cell := range cells {
		t.Rows[i].Cells = append(t.Rows[i].Cells, table.Cell{Text: lastOf(cell)})
	}

	return t, marks
}

// addColumns adds figures of each cell to the rows of a table, and gives their marks.
func addColumns(t *table.Table, columns []Column, cells []compare.Cell) (marks string) {
	var all strings.Builder
	for _, col := range columns {
		t.Columns = append(t.Columns, table.Numbers(col.Head, col.Unit))
		for i, e := range fill(col, cells) {
			e.Text = e.Mark + e.Text
			all.WriteString(e.Mark)
			t.Rows[i].Cells = append(t.Rows[i].Cells, e)
		}
	}
	return all.String()
}

// gpuTableColumns are the figures of the table of GPUs. Those of the steps'
// own reports and of summary.csv are more.
func gpuTableColumns() []Column {
	all := columnsOf(func(f catalog.Figure) catalog.Heading { return f.Detail },
		catalog.All(catalog.Hardware, catalog.Energy, catalog.Heat))
	for i := range all {
		all[i].Unranked, all[i].unmarked = true, true
	}
	return all
}

func gpusOf(c compare.Cell) string {
	most := 0
	for _, r := range c.Counted {
		if r.Telemetry != nil {
			most = max(most, len(r.Telemetry.GPUs))
		}
	}
	return strconv.Itoa(most)
}

// throttlingOf is the worst of the cell's steps.
func throttlingOf(c compare.Cell) string {
	worst := map[string]float64{}
	known := false
	for _, r := range c.Counted {
		if sum := SumOf(r); sum != nil && sum.Pass.Throttle != nil {
			known = true
			for reason, share := range sum.Pass.Throttle {
				worst[reason] = max(worst[reason], share)
			}
		}
	}
	if !known {
		return table.Missing
	}
	return cmp.Or(ThrottleText(worst), "none")
}
