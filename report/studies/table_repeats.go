package studies

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// repeatColumns are the ten columns of the table of repeats, in their order and
// spelling.
func repeatColumns() []grid.Column {
	return columnsOf(
		[2]string{"request_throughput", "qps"},
		[2]string{"mean_ttft_s", "mean TTFT (ms)"}, [2]string{"median_ttft_s", "Median TTFT (ms)"},
		[2]string{"p99_ttft_s", "p99 TTFT (ms)"},
		[2]string{"mean_tpot_s", "mean TPOT (ms)"}, [2]string{"median_tpot_s", "Median TPOT (ms)"},
		[2]string{"p99_tpot_s", "P99 TPOT (ms)"},
		[2]string{"mean_itl_s", "mean ITL (ms)"}, [2]string{"median_itl_s", "Median ITL (ms)"},
		[2]string{"p99_itl_s", "p99 ITL (ms)"},
	)
}

// RepeatParts are one table a variant and point, with one row a repeat.
func RepeatParts(run *results.Run) []table.Piece {
	cells := compare.CellsOf(run.Manifest, run.Results())
	if len(cells) == 0 {
		return nil
	}

	parts := []table.Piece{{Title: "Repeats"}}
	for _, cell := range cells {
		name := text.Clean(cell.Variant)
		if cell.IsSimulated() {
			name += grid.Simulated
		}
		p := table.Piece{Title: name + ", " + text.Clean(cell.Point), Below: true, Table: repeatTable(cell)}
		at := slices.IndexFunc(cells, func(c compare.Cell) bool {
			return c.Point == cell.Point && c.Variant == versus.BaselineOf(run)
		})
		switch {
		case cell.Variant == versus.BaselineOf(run):
			p.Title = "Baseline: " + p.Title
		case at >= 0:
			p.Title += ": " + versus.RecipesText(cells[at], cell)
		}
		p.Notes = invalidRepeats(cell)
		if note := run.Manifest.Notes[cell.Variant]; note != "" {
			p.Notes = append(p.Notes, text.Clean(note))
		}
		parts = append(parts, p)
	}

	return parts
}

// invalidRepeats says of each repeat that is not ok why; those that end alike
// are told together.
func invalidRepeats(cell compare.Cell) []string {
	var words []string
	of := make(map[string][]*results.Result)
	for _, r := range cell.Steps {
		if r.Verdict != results.OK {
			reason := versus.Verbatim(r)
			words = text.AppendNew(words, reason)
			of[reason] = append(of[reason], r)
		}
	}
	for i, text := range words {
		words[i] = compare.RepeatsOf(of[text]) + ": " + text
	}
	return words
}

func repeatTable(cell compare.Cell) table.Table {
	c := table.Table{Keys: []int{}}
	var steps []compare.Cell // of one step each
	for _, r := range cell.Steps {
		if r.Figures != nil {
			steps = append(steps, compare.Cell{
				Variant: cell.Variant, Point: cell.Point, Steps: []*results.Result{r},
				Counted: []*results.Result{r},
			})
		}
	}

	if len(steps) == 0 {
		return c
	}

	c.Rows = make([]table.Row, len(steps))
	var marks strings.Builder
	for _, col := range repeatColumns() {
		c.Columns = append(c.Columns, table.Numbers(col.Head, ""))
		for i, one := range steps {
			text, mark := table.Missing, ""
			if v := col.Of(one); v != nil {
				shown := *v * col.Figure.Scale
				text, mark = table.Number(&shown, studyDigits), col.Mark(one)
			}
			marks.WriteString(mark)
			c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: mark + text})
		}
	}

	if slices.ContainsFunc(steps, incomplete) {
		c.Columns = append(c.Columns, table.Numbers("completed", ""))
		for i, one := range steps {
			c.Rows[i].Cells = append(c.Rows[i].Cells, table.Cell{Text: completedOf(one)})
		}
	}

	c.Legend = grid.MarkLegend(marks.String())

	return c
}
