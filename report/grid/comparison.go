package grid

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Marks of figures, and what they mean.
const (
	ThinMark           = "~"
	ExtrapolatedMark   = "#"
	ExtrapolatedLegend = ExtrapolatedMark +
		" extrapolated: one replica ran with its share of the load, and its rates are multiplied; never ranked"
	chunksMark    = "^"
	ThrottleMark  = "!"
	LeadMark      = "?" // better than the ranked rows of its load point, and not ranked
	Simulated     = " [sim]"
	SimLegend     = "[sim] simulated; ranked only among simulated ones"
	meansLegend   = "n > 1: mean over server starts, each a launch of the variant's servers"
	suspectLegend = "suspect: measured, with a warning that disqualifies the figures; never ranked"
	spreadLegend  = "± half of the 95 % interval of the mean (t over server starts), in percent of the mean"
)

// LayOutRun lays a run out as a table. It is empty where it would say nothing: all steps
// are valid, and their figures are not of requests.
func LayOutRun(run *results.Run) table.Table {
	cells := compare.CellsOf(run.Manifest, run.Results())
	figures := columns(cells)
	c := table.Table{Keys: []int{0, 1, 2}, Columns: []table.Column{
		table.Words("variant"), table.Words("point"), table.Words("verdict"),
	}}
	sent := !onlyPrograms(cells)
	if !sent && len(figures) == 0 && !slices.ContainsFunc(cells, func(c compare.Cell) bool { return !allValid(c) }) {
		return table.Table{}
	}
	if sent {
		c.Columns = append(c.Columns, table.Numbers("ok/asked", "requests"))
	}
	repeated := versus.AnyRepeats(cells)
	if repeated {
		c.Columns = append(c.Columns, table.Numbers("n", ""))
	}

	for i, cell := range cells {
		r := table.Row{
			NewGroup: i > 0 && cell.Point != cells[i-1].Point, Unranked: !cell.Valid(), Failed: len(cell.Counted) == 0,
		}
		r.Cells = append(r.Cells, table.Cell{Text: VariantName(cell)}, table.Cell{Text: text.Clean(cell.Point)},
			table.Cell{Text: verdictOf(run, cell, VerdictName), Short: verdictOf(run, cell, ShortVerdict)})
		if sent {
			r.Cells = append(r.Cells, table.Cell{Text: requests(cell)})
		}
		if repeated {
			n, _, _ := strings.Cut(repeats(cell), ",")
			r.Cells = append(r.Cells, table.Cell{Text: repeats(cell), Short: n})
		}
		c.Rows = append(c.Rows, r)
	}

	marks := addColumns(&c, figures, cells)
	anyBest, spread := false, false
	for _, r := range c.Rows {
		for _, e := range r.Cells[len(r.Cells)-len(figures):] {
			anyBest = anyBest || e.Best
			spread = spread || strings.Contains(e.Text, "±")
		}
	}

	if anyBest {
		c.Best = bestLegend
	}

	c.Legend = legend(cells, anyBest, marks, repeated)
	if spread {
		c.Legend = append(c.Legend, spreadLegend)
	}

	if slices.ContainsFunc(figures, func(col Column) bool { return col.Figure.Group == catalog.Cost }) {
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

	if slices.ContainsFunc(cells, func(c compare.Cell) bool { return slices.ContainsFunc(c.Steps, endedEarly) }) {
		lines = append(lines, earlyLegend)
	}
	suspect := func(r *results.Result) bool { return r.Verdict == results.Suspect }
	if slices.ContainsFunc(cells, func(c compare.Cell) bool { return slices.ContainsFunc(c.Steps, suspect) }) {
		lines = append(lines, suspectLegend)
	}
	if uneven(cells) {
		lines = append(lines, "n differs between rows: repeats that failed, are suspect or were not run are left out "+
			"of the figures")
	}

	if slices.ContainsFunc(cells, compare.Cell.IsSimulated) {
		lines = append(lines, SimLegend)
	}

	for _, c := range cells {
		if e := c.Extrapolated(); e != nil {
			lines = text.AppendNew(lines, text.Clean(c.Variant)+": "+versus.ExtrapolatedText(*e))
		}
	}

	return lines
}

// UnrankedLegend names the rows that are never ranked.
func UnrankedLegend(cells []compare.Cell) []string {
	var lines []string
	for _, c := range cells {
		if c.Again {
			lines = text.AppendNew(lines, text.Clean(c.Variant)+": the baseline again, as a null test; never ranked")
		}
	}
	return lines
}

// MarkLegend explains the marks that are in a table.
func MarkLegend(marks string) []string {
	var lines []string
	for _, m := range []struct{ mark, text string }{
		{LeadMark, LeadMark + " better than every ranked row of its load point, but not ranked (see verdict and " +
			"marks): nothing is best there"},
		{ThinMark, fmt.Sprintf("%s too few samples for the percentile (p90 needs %d, p99 %d); never ranked", ThinMark,
			metrics.SamplesFor(90), metrics.SamplesFor(99))},
		{chunksMark, chunksMark + " time between chunks of several tokens, not between tokens; never ranked"},
		{ThrottleMark, ThrottleMark + " a GPU was throttled by heat or hardware; never ranked"},
		{ExtrapolatedMark, ExtrapolatedLegend},
	} {
		if strings.Contains(marks, m.mark) {
			lines = append(lines, m.text)
		}
	}
	return lines
}

// bestLegend says what the mark of the best cells means.
const bestLegend = "best at this load point among valid rows, by the digits shown; intervals and differences say how " +
	"certain that is"

// earlyLegend explains requests that were neither answered nor failed.
const earlyLegend = "early: the pass ended as soon as its answer was known (load.early); " +
	"the other requests were not sent"

// uneven reports whether rows with figures rest on different numbers of steps.
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

// VariantName is the name of a cell's variant, marked where it is simulated.
func VariantName(c compare.Cell) string {
	if c.IsSimulated() {
		return text.Clean(c.Variant) + Simulated
	}
	return text.Clean(c.Variant)
}

// allValid reports whether every step of a cell has figures that count.
func allValid(c compare.Cell) bool { return len(c.Counted) == len(c.Steps) && c.Valid() }

// requests counts over the steps of a cell, failed ones included.
func requests(c compare.Cell) string {
	completed, asked := 0, 0
	completedKnown, askedKnown := true, true
	for _, r := range c.Steps {
		if r.Figures != nil {
			completed += r.Figures.Completed
			asked += r.Figures.Asked
			completedKnown = completedKnown && r.KnowsCompleted()
			askedKnown = askedKnown && r.KnowsAsked()
		}
	}

	if asked == 0 && (completed == 0 || !completedKnown) {
		return table.Missing
	}

	texts := []string{strconv.Itoa(completed), strconv.Itoa(asked)}
	for i, known := range []bool{completedKnown, askedKnown} {
		if !known {
			texts[i] = table.Missing
		}
	}

	counts := texts[0] + "/" + texts[1]
	if slices.ContainsFunc(c.Steps, endedEarly) {
		counts += ", early"
	}
	return counts
}

func endedEarly(r *results.Result) bool { return r.Early != nil }

// repeats says how many steps a row rests on: "3", "2 of 3", "3, one start".
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
		return text + ", one start"
	}
	return fmt.Sprintf("%s, %d starts", text, lives)
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

// VerdictName is the verdict of a step, with the class of its failure or the
// code of the warning that makes it suspect.
func VerdictName(s *results.Step) string {
	switch r := s.Result; {
	case s.State == results.StepInterrupted:
	case r.Verdict == results.Failed && r.Failure != nil:
		return ShortVerdict(s) + ": " + string(r.Failure.Class)
	case r.Verdict == results.Suspect:
		if doubts := metrics.Doubts(r); len(doubts) > 0 {
			return ShortVerdict(s) + ": " + string(doubts[0].Code)
		}
	}

	return ShortVerdict(s)
}

// ShortVerdict is the verdict of a step without its reason.
func ShortVerdict(s *results.Step) string {
	if s.State == results.StepInterrupted {
		return Interrupted
	}
	return string(s.Result.Verdict)
}

// fill makes the entries of a column, one per cell.
func fill(col Column, cells []compare.Cell) []table.Cell {
	values := make([]*float64, len(cells))
	largest := 0.0
	for i, cell := range cells {
		if v := col.Of(cell); v != nil {
			shown := *v * col.Figure.Scale
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

	at := 0
	for _, group := range compare.ByPoint(cells) {
		end := at + len(group)
		MarkBest(col, group, values[at:end], entries[at:end])
		at = end
	}

	for i, cell := range cells {
		if values[i] != nil {
			entries[i].Text += col.spread(cell)
		}
	}

	return entries
}

// MarkBest marks the best of one load point, by the printed digits: equal ones
// are equally good. It takes two valid rows that differ to have a best.
// Simulated rows compete only where no real one does. Where a row that is not
// ranked has a better value, it gets LeadMark and nothing is best.
func MarkBest(col Column, cells []compare.Cell, values []*float64, entries []table.Cell) {
	ranked, others := candidates(col, cells, values, entries)
	if len(ranked) < 2 {
		return
	}

	better := func(a, b int) bool {
		return entries[a].Text != entries[b].Text && col.Figure.Compare(*values[a], *values[b]) < 0
	}

	best, differ := ranked[0], false
	for _, i := range ranked[1:] {
		differ = differ || entries[i].Text != entries[best].Text
		if better(i, best) {
			best = i
		}
	}

	leads := false
	for _, i := range others {
		if better(i, best) {
			entries[i].Mark, leads = LeadMark+entries[i].Mark, true
		}
	}

	for _, i := range ranked {
		entries[i].Best = differ && !leads && entries[i].Text == entries[best].Text
	}
}

// candidates are the rows of one load point that may be best, and those that
// have a value of the same kind and may not. A null test is the baseline again,
// and neither.
func candidates(col Column, cells []compare.Cell, values []*float64, entries []table.Cell) (ranked, others []int) {
	real, simulated := [2][]int{}, [2][]int{}
	for i, cell := range cells {
		if col.Unranked || values[i] == nil || cell.Again {
			continue
		}
		class := 0
		if !cell.Valid() || entries[i].Mark != "" {
			class = 1
		}
		if cell.IsSimulated() {
			simulated[class] = append(simulated[class], i)
		} else {
			real[class] = append(real[class], i)
		}
	}

	if len(real[0])+len(real[1]) > 0 {
		return real[0], real[1]
	}

	return simulated[0], simulated[1]
}

// SimulatedLine precedes all figures that no engine produced.
const SimulatedLine = results.SimulatedMark + " these figures come from bench's simulator, not from an inference engine"

// ColumnLegend is bestLegend of tables whose columns are ranked as a whole.
const ColumnLegend = "best of its column among valid rows; equal printed digits rank equally"
