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

// measureDigits are the decimals of a row whose largest mean is given.
func measureDigits(largest float64) int {
	const many, few = 100, 0.01
	switch {
	case largest >= many:
		return 1
	case largest > 0 && largest < few:
		return 5
	}
	return 3
}

// measureRow is a figure of all cells.
func measureRow(f catalog.Figure, cells []compare.Cell) table.Row {
	title := strings.TrimSuffix(f.Title, " "+f.Unit)
	row := table.NewRow(text.Clean(title), text.Clean(f.Unit))
	largest := 0.0
	for _, cell := range cells {
		largest = max(largest, slices.Max(append(cell.PerLife(f.Of), 0)))
	}

	digits := measureDigits(largest)
	for _, cell := range cells {
		shown := withInterval(cell.PerLife(f.Of), digits)
		if len(cell.Counted) == 1 {
			shown += withinStep(cell.Counted[0], f.Name, digits)
		}
		row.Cells = append(row.Cells, table.Cell{Text: shown})
	}
	return row
}

// withinStep is the spread of a figure's samples within the only step that has it;
// "": it has one sample.
func withinStep(r *results.Result, name string, digits int) string {
	m := r.Measure(name)
	if m.SD == nil {
		return ""
	}
	return fmt.Sprintf(" (sd %s, n %d)", table.Number(m.SD, digits), m.N)
}

// withInterval is the mean of values, and half of its interval.
func withInterval(values []float64, digits int) string {
	s := compare.Sample{Values: values}.Summarize(compare.DefaultRule().Confidence)
	switch {
	case s.Mean == nil:
		return table.Missing
	case s.High == nil:
		return table.Number(s.Mean, digits)
	}
	return table.Number(s.Mean, digits) + " ± " + table.Number(new(*s.High-*s.Mean), digits)
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
