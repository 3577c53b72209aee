package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

const (
	ThinMark       = "~"
	chunksMark     = "^"
	ThrottleMark   = "!"
	Simulated      = " [sim]"
	thinLegend     = ThinMark + " fewer samples than the percentile needs (1000 for p99); never called best"
	gapsLegend     = chunksMark + " time between chunks of several tokens, not between tokens; never called best"
	throttleLegend = ThrottleMark + " a GPU was throttled by heat or hardware; never called best"
	SimLegend      = "[sim] simulated; ranked only among simulated ones"
	meansLegend    = "n > 1: means over server lives"
	spreadLegend   = "± half of the 95 % interval of the mean (t over server lives), in percent of it"
)

// LayOutRun lays a run out as a table.
func LayOutRun(run *results.Run) table.Table {
	cells := compare.CellsOf(run.Manifest, versus.StepResults(run))
	figures := columns(cells)
	c := table.Table{Columns: []table.Column{table.Words("variant"), table.Words("point"),
		table.Numbers("ok/asked", "requests")}}
	repeated := versus.AnyRepeats(cells)
	if repeated {
		c.Columns = append(c.Columns, table.Numbers("n", ""))
	}

	for i, cell := range cells {
		r := table.Row{NewGroup: i > 0 && cell.Point != cells[i-1].Point}
		r.Cells = append(r.Cells, table.Cell{Text: VariantName(cell)}, table.Cell{Text: text.Clean(cell.Point)},
			table.Cell{Text: requests(cell)})
		if repeated {
			r.Cells = append(r.Cells, table.Cell{Text: repeats(cell)})
		}
		c.Rows = append(c.Rows, r)
	}

	var marks strings.Builder
	anyBest, spread := false, false
	for _, col := range figures {
		c.Columns = append(c.Columns, table.Numbers(col.Head, col.Unit))
		for i, e := range fill(col, cells) {
			e.Text = e.Mark + e.Text
			c.Rows[i].Cells = append(c.Rows[i].Cells, e)
			anyBest = anyBest || e.Best
			marks.WriteString(e.Mark)
			spread = spread || strings.Contains(e.Text, "±")
		}
	}

	c.Columns = append(c.Columns, table.Words("verdict"))
	for i, cell := range cells {
		c.Rows[i].Cells = append(c.Rows[i].Cells,
			table.Cell{Text: verdictOf(run, cell, VerdictName), Short: verdictOf(run, cell, ShortVerdict)})
	}

	if anyBest {
		c.Best = bestLegend
	}

	c.Legend = legend(cells, anyBest, marks.String(), repeated)
	if spread {
		c.Legend = append(c.Legend, spreadLegend)
	}

	if slices.ContainsFunc(figures, func(col Column) bool { return col.money }) {
		c.Legend = append(c.Legend, costLegend)
	}

	return c
}

func legend(cells []compare.Cell, anyBest bool, marks string, repeated bool) []string {
	var lines []string
	if anyBest {
		lines = UnrankedLegend(cells)
	}

	lines = append(lines, MarkLegend(marks)...)
	if repeated {
		lines = append(lines, meansLegend)
	}

	if uneven(cells) {
		lines = append(lines, "n differs between rows: some repeats failed, are doubtful or were not run; their "+
			"figures are left out")
	}

	if slices.ContainsFunc(cells, versus.IsSimulated) {
		lines = append(lines, SimLegend)
	}

	for _, c := range cells {
		if e := versus.ExtrapolationOf(c); e != nil {
			lines = text.AppendNew(lines, text.Clean(c.Variant)+": "+versus.ExtrapolatedText(*e))
		}
	}

	return lines
}

// UnrankedLegend names the rows that are never called best.
func UnrankedLegend(cells []compare.Cell) []string {
	var lines []string
	for _, c := range cells {
		if c.Again {
			lines = text.AppendNew(lines,
				text.Clean(c.Variant)+": the baseline once more, for the null test; never called best")
		}
	}
	return lines
}

// MarkLegend explains the marks that stand in a table.
func MarkLegend(marks string) []string {
	var lines []string
	for _, m := range []struct{ mark, text string }{
		{ThinMark, thinLegend}, {chunksMark, gapsLegend}, {ThrottleMark, throttleLegend},
		{ExtrapolatedMark, ExtrapolatedLegend},
	} {
		if strings.Contains(marks, m.mark) {
			lines = append(lines, m.text)
		}
	}
	return lines
}

// bestLegend says what the mark of the best cells means.
const bestLegend = "best mean of its point among sound rows, by the digits shown; intervals and differences tell how " +
	"sure that is"

// uneven reports whether rows with figures stand on different numbers of steps.
func uneven(cells []compare.Cell) bool {
	n := 0
	for _, c := range cells {
		if len(c.Counted) == 0 {
			continue
		}
		if n != 0 && len(c.Counted) != n {
			return true
		}
		n = len(c.Counted)
	}
	return false
}

func VariantName(c compare.Cell) string {
	if versus.IsSimulated(c) {
		return text.Clean(c.Variant) + Simulated
	}
	return text.Clean(c.Variant)
}

// requests counts over the steps of a cell, failed ones included.
func requests(c compare.Cell) string {
	completed, asked := 0, 0
	for _, r := range c.Steps {
		if r.Figures != nil {
			completed += r.Figures.Completed
			asked += r.Figures.Asked
		}
	}
	if asked == 0 {
		return table.Missing
	}
	return strconv.Itoa(completed) + "/" + strconv.Itoa(asked)
}

// repeats says how many steps a row stands on: "3", "2 of 3", "3, one life".
func repeats(c compare.Cell) string {
	n, lives := len(c.Counted), c.Lives()
	text := strconv.Itoa(n)
	if n < len(c.Steps) {
		text += " of " + strconv.Itoa(len(c.Steps))
	}
	switch {
	case n <= 1 || lives == n:
		return text
	case lives == 1:
		return text + ", one life"
	}
	return fmt.Sprintf("%s, %d lives", text, lives)
}

// verdictOf is the verdict of a cell; of several, how many have which.
func verdictOf(run *results.Run, c compare.Cell, of func(*results.Step) string) string {
	var names []string
	counts := make(map[string]int)
	for _, r := range c.Steps {
		name := of(run.Step(r.Step.ID))
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name]++
	}
	if len(names) == 1 {
		return names[0]
	}
	for i, name := range names {
		names[i] = strconv.Itoa(counts[name]) + " " + name
	}
	return strings.Join(names, ", ")
}

// Interrupted stands for the verdict of a step that a kill cut short.
const Interrupted = "interrupted"

// VerdictName is the verdict of a step, with the class of its failure.
func VerdictName(s *results.Step) string {
	if s.Result.Verdict == results.Failed && s.Result.Failure != nil {
		return ShortVerdict(s) + ": " + string(s.Result.Failure.Class)
	}
	return ShortVerdict(s)
}

func ShortVerdict(s *results.Step) string {
	if s.State == results.StepInterrupted {
		return Interrupted
	}
	return string(s.Result.Verdict)
}

// fill makes the entries of a column, one a cell.
func fill(col Column, cells []compare.Cell) []table.Cell {
	values := make([]*float64, len(cells))
	largest := 0.0
	for i, cell := range cells {
		if v := col.Of(cell); v != nil {
			shown := *v * col.Scale
			values[i] = &shown
			largest = max(largest, shown)
		}
	}

	digits := table.Decimals(largest)
	entries := make([]table.Cell, len(cells))
	for i, cell := range cells {
		entries[i].Text = table.Number(values[i], digits)
		if values[i] != nil {
			entries[i].Mark = col.Mark(cell)
		}
	}

	for start := 0; start < len(cells); {
		end := start + 1
		for end < len(cells) && cells[end].Point == cells[start].Point {
			end++
		}
		MarkBest(col, cells[start:end], values[start:end], entries[start:end])
		start = end
	}

	for i, cell := range cells {
		if values[i] != nil {
			entries[i].Text += col.spread(cell)
		}
	}

	return entries
}

// MarkBest marks the best of one point, by the printed digits: equal ones are
// equally good. It takes two sound rows that differ to have a best; simulated
// ones compete only where no real one does, the arm of a null test never.
func MarkBest(col Column, cells []compare.Cell, values []*float64, entries []table.Cell) {
	var real, sim []int
	for i, cell := range cells {
		switch {
		case col.unranked || values[i] == nil || !cell.Sound() || cell.Again || entries[i].Mark != "":
		case versus.IsSimulated(cell):
			sim = append(sim, i)
		default:
			real = append(real, i)
		}
	}

	candidates := real
	if len(real) == 0 {
		candidates = sim
	}

	if len(candidates) < 2 {
		return
	}

	best, differ := candidates[0], false
	for _, i := range candidates[1:] {
		differ = differ || entries[i].Text != entries[best].Text
		if better := *values[i] > *values[best]; better != (col.Better == LowerIsBetter) &&
			*values[i] != *values[best] {
			best = i
		}
	}

	for _, i := range candidates {
		entries[i].Best = differ && entries[i].Text == entries[best].Text
	}
}

// SimulatedLine stands above all figures that no engine produced.
const SimulatedLine = "SIMULATED: these figures come from bench's simulator, not from an inference engine"

// ColumnLegend is bestLegend of tables whose columns are ranked as a whole.
const ColumnLegend = "best of its column among sound rows; equal printed digits are equally good"
