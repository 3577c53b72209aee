package studies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// studyDigits is how many decimals the tables of studies have.
const studyDigits = 2

// columnsOf are the columns of figures by name, each under a heading of the
// table's own.
func columnsOf(named ...[2]string) []grid.Column {
	all := make([]grid.Column, len(named))
	for i, n := range named {
		all[i] = grid.ColumnOf(catalog.Must(n[0]), catalog.Heading{Head: n[1]})
	}
	return all
}

// studyColumns are the figures of the tables of studies, in their order and
// spelling.
func studyColumns() []grid.Column {
	return columnsOf(
		[2]string{"duration_s", "Duration (s)"}, [2]string{"request_throughput", "Req/s"},
		[2]string{"output_throughput", "Output Tok/s"}, [2]string{"total_token_throughput", "Total Tok/s"},
		[2]string{"mean_ttft_s", "Mean TTFT (ms)"}, [2]string{"mean_tpot_s", "Mean TPOT (ms)"},
	)
}

// key is a leading column that says which row it is.
type key struct {
	head string
	of   func(compare.Cell) string
}

// ConcurrencyParts are the table of models by concurrency.
func ConcurrencyParts(run *results.Run) []table.Piece {
	model := modelNamer(run)
	return studyPart("Concurrency", studyCells(run), key{"Model", model}, key{"Concurrency", concurrencyOf})
}

// SizeParts are the table of models with their sizes by concurrency.
func SizeParts(run *results.Run) []table.Piece {
	model := modelNamer(run)
	size := func(c compare.Cell) string { return sizeOf(run, c) }
	return studyPart("Sizes", studyCells(run), key{"Model", model}, key{"Size", size},
		key{"Concurrency", concurrencyOf})
}

// BackendParts is one table a point.
func BackendParts(run *results.Run) []table.Piece {
	model := modelNamer(run)
	parts := []table.Piece{}
	cells := studyCells(run)
	for start := 0; start < len(cells); {
		end := start + 1
		for end < len(cells) && cells[end].Point == cells[start].Point {
			end++
		}
		parts = append(parts, studyPart("Backends, "+concurrencyOf(cells[start]), cells[start:end],
			key{"Backend", backendOf}, key{"Model/Quant", model})...)
		start = end
	}
	return parts
}

// studyCells are the cells of a run. Where none of a cell's steps counts, those
// that have figures are shown all the same; they are never ranked.
func studyCells(run *results.Run) []compare.Cell {
	cells := compare.CellsOf(run.Manifest, run.Results())
	for i := range cells {
		if len(cells[i].Counted) == 0 {
			cells[i].Counted = slices.DeleteFunc(slices.Clone(cells[i].Steps),
				func(r *results.Result) bool { return r.Figures == nil })
		}
	}
	return cells
}

// studyPart draws a table of cells: keys, then the figures, and how many
// requests were answered where it was not all of them.
func studyPart(title string, cells []compare.Cell, keys ...key) []table.Piece {
	if len(cells) == 0 {
		return nil
	}

	c := table.Table{Rows: make([]table.Row, len(cells))}
	for i, k := range keys {
		c.Columns = append(c.Columns, table.Words(k.head))
		c.Keys = append(c.Keys, i)
		for at, cell := range cells {
			c.Rows[at].Cells = append(c.Rows[at].Cells, table.Cell{Text: k.of(cell)})
		}
	}

	if slices.ContainsFunc(cells, incomplete) {
		c.Keys = append(c.Keys, len(c.Columns))
		c.Columns = append(c.Columns, table.Numbers("Completed", ""))
		for at, cell := range cells {
			c.Rows[at].Cells = append(c.Rows[at].Cells, table.Cell{Text: completedOf(cell)})
		}
	}

	var marks strings.Builder
	anyBest := false
	for _, col := range studyColumns() {
		c.Columns = append(c.Columns, table.Numbers(col.Head, col.Unit))
		for at, e := range studyEntries(col, cells) {
			marks.WriteString(e.Mark)
			anyBest = anyBest || e.Best
			e.Text = e.Mark + e.Text
			c.Rows[at].Cells = append(c.Rows[at].Cells, e)
		}
	}

	if anyBest {
		c.Best, c.Legend = grid.ColumnLegend, grid.UnrankedLegend(cells)
	}

	c.Legend = append(c.Legend, grid.MarkLegend(marks.String())...)
	if slices.ContainsFunc(cells, compare.Cell.IsSimulated) {
		c.Legend = append(c.Legend, grid.SimLegend)
	}

	return []table.Piece{{Title: title, Table: c, Notes: studyNotes(cells)}}
}

// studyEntries are a column's fields. The best are marked over all cells, by
// what is printed.
func studyEntries(col grid.Column, cells []compare.Cell) []table.Cell {
	entries := make([]table.Cell, len(cells))
	printed := make([]*float64, len(cells))
	for i, cell := range cells {
		v := col.Of(cell)
		if v == nil {
			entries[i].Text = table.Missing
			continue
		}
		shown := *v * col.Figure.Scale
		entries[i].Text, entries[i].Mark = table.Number(&shown, studyDigits), col.Mark(cell)
		if rounded, err := strconv.ParseFloat(entries[i].Text, 64); err == nil {
			printed[i] = &rounded
		}
	}

	if col.Head != "Duration (s)" || sameWork(cells) {
		grid.MarkBest(col, cells, printed, entries)
	}

	return entries
}

// sameWork reports whether all cells were asked for as many requests: only then
// do their durations compare.
func sameWork(cells []compare.Cell) bool {
	asked := map[int]bool{}
	for _, c := range cells {
		for _, r := range c.Counted {
			if r.Figures != nil {
				asked[r.Figures.Asked] = true
			}
		}
	}
	return len(asked) == 1
}

func incomplete(c compare.Cell) bool {
	return slices.ContainsFunc(c.Counted,
		func(r *results.Result) bool { return r.Figures != nil && r.Figures.Completed < r.Figures.Asked })
}

// completedOf counts over the steps that the row's figures are of.
func completedOf(c compare.Cell) string {
	completed, asked := 0, 0
	for _, r := range c.Counted {
		if r.Figures != nil {
			completed, asked = completed+r.Figures.Completed, asked+r.Figures.Asked
		}
	}
	if asked == 0 {
		return table.Missing
	}
	return fmt.Sprintf("%d of %d", completed, asked)
}

// studyNotes say why a row is not ranked, and what it rests on.
func studyNotes(cells []compare.Cell) []string {
	var notes []string
	for _, c := range cells {
		name := text.Clean(c.Variant) + ", " + text.Clean(c.Point)
		switch {
		case len(c.Counted) == 0:
			for _, words := range versus.Uncounted(c) {
				notes = append(notes, name+": "+words)
			}
		case c.Counted[0].Verdict != results.OK:
			notes = append(notes, name+": not ranked: "+versus.Verbatim(c.Counted[0]))
		case len(c.Counted) > 1:
			notes = append(notes, fmt.Sprintf("%s: mean of %s on %d server starts", name,
				text.Count(len(c.Counted), "repeat"), c.Lives()))
		}
		if e := c.Extrapolated(); e != nil {
			notes = append(notes, name+": "+versus.ExtrapolatedText(*e))
		}
	}

	return notes
}

// modelNamer names a cell's model as its server does, with the variant where
// several variants serve one.
func modelNamer(run *results.Run) func(compare.Cell) string {
	of := make(map[string]map[string]bool) // model -> variants
	for _, c := range studyCells(run) {
		model := modelOf(c)
		if of[model] == nil {
			of[model] = map[string]bool{}
		}
		of[model][c.Variant] = true
	}

	return func(c compare.Cell) string {
		name := modelOf(c)
		if len(slices.Collect(maps.Keys(of[name]))) > 1 && name != text.Clean(c.Variant) {
			name += " (" + text.Clean(c.Variant) + ")"
		}
		if c.IsSimulated() {
			name += grid.Simulated
		}
		return name
	}
}

func modelOf(c compare.Cell) string {
	if r := versus.WithServers(c); r != nil && r.Servers[0].Model != "" {
		return text.Clean(r.Servers[0].Model)
	}
	return text.Clean(c.Variant)
}

// sizeOf is the size of the model that the scenario gives, else that which the
// server told.
func sizeOf(run *results.Run, c compare.Cell) string {
	if size := run.Manifest.Sizes[c.Variant]; size != "" {
		return text.Clean(size)
	}
	if r := versus.WithServers(c); r != nil && r.Servers[0].Startup != nil && r.Servers[0].Startup.ModelBytes != nil {
		const gb = 1e9
		return strconv.FormatFloat(float64(*r.Servers[0].Startup.ModelBytes)/gb, 'f', 1, 64) + "GB"
	}
	return table.Missing
}

// concurrencyOf is "c=16", or the point's label where nothing caps it.
func concurrencyOf(c compare.Cell) string {
	for _, r := range slices.Concat(c.Counted, c.Steps) {
		if r.Asked.MaxConcurrency != nil {
			return "c=" + strconv.Itoa(*r.Asked.MaxConcurrency)
		}
	}
	return text.Clean(c.Point)
}

// backendOf is the engine as its makers spell it.
func backendOf(c compare.Cell) string {
	r := versus.WithServers(c)
	if r == nil {
		return table.Missing
	}

	name := r.Servers[0].Launcher
	kind, _ := engines.Lookup(name)
	return cmp.Or(kind.Title, text.Clean(name), table.Missing)
}
