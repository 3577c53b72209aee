package studies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// MeasureParts has a row for each figure of a method that sends no requests, and
// a column for each variant and point; none without such figures.
func MeasureParts(run *results.Run) []table.Piece {
	cells := slices.DeleteFunc(studyCells(run), func(c compare.Cell) bool {
		return !slices.ContainsFunc(c.Counted, func(r *results.Result) bool { return len(r.Measures) > 0 })
	})
	if len(cells) == 0 {
		return nil
	}

	var steps []*results.Result
	for _, c := range cells {
		steps = append(steps, c.Counted...)
	}

	c := table.Table{
		Columns: []table.Column{table.Words("figure"), table.Words("unit")}, Keys: []int{0, 1},
		Legend: []string{"± half of the 95 % interval of the mean over starts; without it, one start was measured."},
	}
	starts := table.NewRow("starts", "")
	for _, cell := range cells {
		c.Columns = append(c.Columns, table.Numbers(grid.VariantName(cell), text.Clean(cell.Point)))
		starts.Cells = append(starts.Cells, table.Cell{Text: strconv.Itoa(len(cell.Counted))})
	}

	c.Rows = append(c.Rows, starts)
	for _, f := range catalog.MeasureFigures(steps) {
		c.Rows = append(c.Rows, measureRow(f, cells))
	}

	title := cells[0].Counted[0].Method()
	return []table.Piece{{Title: title, Table: c, Notes: cacheNotes(cells)}}
}

const measureDigits = 3 // behind the point

// measureRow is a figure of all cells.
func measureRow(f catalog.Figure, cells []compare.Cell) table.Row {
	title := strings.TrimSuffix(f.Title, " "+f.Unit)
	row := table.NewRow(text.Clean(title), text.Clean(f.Unit))
	for _, cell := range cells {
		shown := withInterval(cell.PerLife(f.Of))
		if len(cell.Counted) == 1 {
			shown += withinStep(cell.Counted[0], f.Name)
		}
		row.Cells = append(row.Cells, table.Cell{Text: shown})
	}
	return row
}

// withinStep is the spread of a figure's samples within the only step that has it;
// "": it has one sample.
func withinStep(r *results.Result, name string) string {
	m := r.Measure(name)
	if m.SD == nil {
		return ""
	}
	return fmt.Sprintf(" (sd %s, n %d)", table.Number(m.SD, measureDigits), m.N)
}

// withInterval is the mean of values, and half of its interval.
func withInterval(values []float64) string {
	s := compare.Sample{Values: values}.Summarize(compare.DefaultRule().Confidence)
	switch {
	case s.Mean == nil:
		return table.Missing
	case s.High == nil:
		return table.Number(s.Mean, measureDigits)
	}
	return table.Number(s.Mean, measureDigits) + " ± " + table.Number(new(*s.High-*s.Mean), measureDigits)
}

// cacheNotes say of each point in which states its caches were.
func cacheNotes(cells []compare.Cell) []string {
	var notes []string
	for _, cell := range cells {
		for _, r := range cell.Counted {
			for _, problem := range r.ColdStart.Problems() {
				notes = text.AppendNew(notes, text.Clean(cell.Variant+", "+cell.Point+": "+problem))
			}
		}
	}
	return notes
}
