package grid

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Brief is the table of a run with the few figures that decide most questions,
// narrow enough for a comment on a pull request.
func Brief(run *results.Run) table.Table {
	whole := LayOutRun(run)
	heads := []string{
		"variant ", "point ", "verdict ", "n ", "output tok/s", "TPOT ms median",
	}

	brief := table.Table{Keys: whole.Keys, Best: whole.Best}
	var kept []int
	for i, c := range whole.Columns {
		if slices.Contains(heads, c.Head+" "+c.Unit) || c.Head == "TTFT ms" { // median and tail
			kept, brief.Columns = append(kept, i), append(brief.Columns, c)
		}
	}

	marks, best := "", false
	for _, r := range whole.Rows {
		row := table.Row{NewGroup: r.NewGroup, Step: r.Step}
		for _, i := range kept {
			cell := r.Cells[i]
			if cell.Short != "" {
				cell.Text = cell.Short
			}
			if strings.HasSuffix(whole.Columns[i].Head, "ms") { // their intervals stand in the whole table
				cell.Text, _, _ = strings.Cut(cell.Text, " ±")
			}
			marks, best = marks+cell.Mark, best || cell.Best
			row.Cells = append(row.Cells, cell)
		}
		brief.Rows = append(brief.Rows, row)
	}

	if !best {
		brief.Best = ""
	}

	for _, line := range whole.Legend {
		mark, _, _ := strings.Cut(line, " ")
		if isMark := strings.Contains(ThinMark+chunksMark+ThrottleMark+LeadMark+ExtrapolatedMark, mark); !isMark ||
			strings.Contains(marks, mark) {
			brief.Legend = append(brief.Legend, line)
		}
	}

	return brief
}
