package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Standing says in a sentence or two which variant did best, by how much, how
// sure that is, and over how many server lives; and where that cannot be told.
type Standing struct {
	Lines []string    // sentences, the most important first; none: there is nothing to compare
	Told  bool        // at least one point has a winner
	Table table.Table // point by point
}

// contest is one point: the variant that is ahead, beside each of the others.
type contest struct {
	point  string
	best   compare.Cell
	mean   float64
	others []rival // the nearest first
}

// rival is a variant behind the best. Its difference is that of the best
// against it.
type rival struct {
	cell compare.Cell
	mean float64
	diff compare.Difference
}

// StandingOf compares the best variant of each point with all others there, by
// the output throughput, or where the load sets that (a request rate) by the
// median end-to-end latency. Steps that failed or are suspect are left out, as
// are simulated ones where some are real.
func StandingOf(run *results.Run) Standing {
	if run.Manifest.Search != nil {
		return searchStanding(run)
	}
	figure, ok := standingFigure(run)
	if !ok {
		return Standing{}
	}
	contests := contestsOf(run, figure)
	if len(contests) == 0 {
		return Standing{}
	}
	judge(contests, figure, ruleOf(run.Manifest))
	s := Standing{Table: standingTable(contests, figure)}
	for _, c := range contests {
		s.Told = s.Told || c.verdict() == compare.Better
	}
	if !slices.ContainsFunc(contests, func(c contest) bool { return len(c.others) > 0 }) {
		s.Lines = aloneLines(contests, figure)
		return s
	}
	s.Lines = append(winLines(contests, figure), openLines(contests, figure)...)
	return s
}

// standingFigure is the figure that decides; false: no step has it.
func standingFigure(run *results.Run) (catalog.Figure, bool) {
	steps := stepResults(run)
	figures := catalog.FiguresOf(steps)
	want := []string{"output_throughput"}
	if rated(steps) {
		want = []string{"median_e2el_s", "output_throughput"}
	}
	for _, name := range want {
		at := slices.IndexFunc(figures, func(f catalog.Figure) bool { return f.Name == name })
		if at >= 0 && slices.ContainsFunc(steps, func(r *results.Result) bool { return figures[at].Of(r) != nil }) {
			return figures[at], true
		}
	}
	if slices.ContainsFunc(steps, func(r *results.Result) bool { return len(r.LlamaBench) > 0 }) {
		return figures[0], true
	}
	return catalog.Figure{}, false
}

// rated reports whether every measured step was sent at a rate of its own: its
// throughput is then that rate, whatever the server.
func rated(steps []*results.Result) bool {
	any := false
	for _, r := range steps {
		if r.Figures == nil {
			continue
		}
		if r.Asked.RequestRate == nil || math.IsInf(*r.Asked.RequestRate, 0) {
			return false
		}
		any = true
	}
	return any
}

func contestsOf(run *results.Run, figure catalog.Figure) []contest {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, asTheyRan(run)), func(c compare.Cell) bool {
		return len(c.Counted) == 0 || c.Again || c.Counted[0].Verdict != results.OK || len(c.PerLife(figure.Of)) == 0 || extrapolationOf(c) != nil
	})
	if slices.ContainsFunc(cells, func(c compare.Cell) bool { return !isSimulated(c) }) {
		cells = slices.DeleteFunc(cells, isSimulated)
	}
	var all []contest
	for start := 0; start < len(cells); {
		end := start + 1
		for end < len(cells) && cells[end].Point == cells[start].Point {
			end++
		}
		all = append(all, contestOf(cells[start:end], figure))
		start = end
	}
	return all
}

func contestOf(cells []compare.Cell, figure catalog.Figure) contest {
	entries := make([]rival, len(cells))
	for i, c := range cells {
		entries[i] = rival{cell: c, mean: metrics.Mean(c.PerLife(figure.Of))}
	}
	slices.SortStableFunc(entries, func(a, b rival) int {
		if figure.Higher {
			return cmp.Compare(b.mean, a.mean)
		}
		return cmp.Compare(a.mean, b.mean)
	})
	return contest{point: cells[0].Point, best: entries[0].cell, mean: entries[0].mean, others: entries[1:]}
}

// judge compares the best of each point with the others there. All of that is
// one question, and is corrected as a whole.
func judge(contests []contest, figure catalog.Figure, rule compare.Rule) {
	rule.Rounds = 1 // the bootstrap's intervals are not shown
	var all []compare.Difference
	for _, c := range contests {
		for _, o := range c.others {
			all = append(all, compare.Compare(figure.Name, figure.Higher,
				compare.Arm{Name: o.cell.Variant, Values: o.cell.PerLife(figure.Of)}, compare.Arm{Name: c.best.Variant, Values: c.best.PerLife(figure.Of)}, rule))
		}
	}
	compare.Judge(all, rule)
	at := 0
	for i := range contests {
		for k := range contests[i].others {
			contests[i].others[k].diff = all[at]
			at++
		}
	}
}

// verdict is better if the best is established against every other variant,
// cannot tell if it is not against one; "" without others.
func (c contest) verdict() compare.ArmVerdict {
	verdict := compare.ArmVerdict("")
	for _, o := range c.others {
		switch {
		case o.diff.Verdict == compare.CannotTell || verdict == compare.CannotTell:
			verdict = compare.CannotTell
		case o.diff.Verdict == compare.NoDifference || verdict == compare.NoDifference:
			verdict = compare.NoDifference
		default:
			verdict = o.diff.Verdict
		}
	}
	return verdict
}

func (c contest) name() string { return variantName(c.best) }

// ahead says by how much: "12.30 % more output tok/s than tp8 (...)".
func (c contest) ahead(figure catalog.Figure) string {
	o := c.others[0]
	more := "more"
	if !figure.Higher {
		more = "less"
	}
	if o.diff.Delta == nil {
		return "ahead of " + variantName(o.cell)
	}
	text := fmt.Sprintf("%.2f %% %s %s than %s", 100*math.Abs(*o.diff.Delta), more, figure.Title, variantName(o.cell))
	lives := fmt.Sprintf("%d and %d server lives", o.diff.Candidate.N, o.diff.Baseline.N)
	if o.diff.Low == nil {
		return text + " (" + lives + ", no interval)"
	}
	return text + fmt.Sprintf(" (95 %% interval of the change %s, %s)", intervalText(o.diff), lives)
}

// peak is the contest with the best figure of all, whose numbers stand for the
// others.
func peak(contests []contest, figure catalog.Figure) contest {
	return slices.MaxFunc(contests, func(a, b contest) int {
		if figure.Higher {
			return cmp.Compare(a.mean, b.mean)
		}
		return cmp.Compare(b.mean, a.mean)
	})
}

// winLines name the winners, the one with the most points first.
func winLines(contests []contest, figure catalog.Figure) []string {
	won := map[string][]contest{}
	var names []string
	decidable := 0
	for _, c := range contests {
		if len(c.others) == 0 {
			continue
		}
		decidable++
		if c.verdict() == compare.Better {
			won[c.name()] = append(won[c.name()], c)
			names = text.AppendNew(names, c.name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(won[b]), len(won[a])) })
	var parts []string
	for _, name := range names {
		where := "at " + namesOfPoints(won[name])
		if len(won[name]) == decidable && decidable > 1 {
			where = fmt.Sprintf("at all %d points", decidable)
		}
		p := peak(won[name], figure)
		if len(won[name]) > 1 {
			where += fmt.Sprintf("; at %s", text.Clean(p.point))
		}
		parts = append(parts, fmt.Sprintf("%s wins %s: %s", name, where, p.ahead(figure)))
	}
	return []string{strings.Join(parts, ". ") + "."}
}

// openLines say where there is no winner, and what would bring one.
func openLines(contests []contest, figure catalog.Figure) []string {
	var open, same []contest
	for _, c := range contests {
		switch c.verdict() {
		case compare.CannotTell:
			open = append(open, c)
		case compare.NoDifference:
			same = append(same, c)
		default:
		}
	}
	var lines []string
	if len(same) > 0 {
		p := peak(same, figure)
		lines = append(lines, fmt.Sprintf("No difference that matters at %s: at %s %s has %s.", namesOfPoints(same), text.Clean(p.point), p.name(), p.ahead(figure)))
	}
	if len(open) == 0 {
		return lines
	}
	p := peak(open, figure)
	line := fmt.Sprintf("Cannot tell which is best at %s", namesOfPoints(open))
	if len(open) == len(contests) && len(open) > 1 {
		line = fmt.Sprintf("Cannot tell which is best at any of %d points", len(open))
	}
	line += fmt.Sprintf(": at %s %s has %s", text.Clean(p.point), p.name(), p.ahead(figure))
	switch more := p.repeatsNeeded(); {
	case more >= compare.MaxRepeats:
		line += "; no number of repeats would tell at this spread"
	case more > 0:
		line += fmt.Sprintf("; %s of each would tell", text.Count(more, "more repeat"))
	}
	return append(lines, line+".")
}

// repeatsNeeded is the most that one of the open questions needs.
func (c contest) repeatsNeeded() int {
	most := 0
	for _, o := range c.others {
		if o.diff.Verdict == compare.CannotTell {
			most = max(most, o.diff.MoreRepeats)
		}
	}
	return most
}

// aloneLines are for runs of one variant.
func aloneLines(contests []contest, figure catalog.Figure) []string {
	p := peak(contests, figure)
	value := p.mean * figure.Scale
	return []string{fmt.Sprintf("Nothing to compare %s with: no point has two sound variants. Its best %s is %s, at %s, over %s.",
		p.name(), figure.Title, table.Number(&value, table.DigitsOf(value)), text.Clean(p.point), text.Count(len(p.best.PerLife(figure.Of)), "server life"))}
}

func namesOfPoints(contests []contest) string {
	names := make([]string, len(contests))
	for i, c := range contests {
		names[i] = c.point
	}
	return text.Few(names)
}

func standingTable(contests []contest, figure catalog.Figure) table.Table {
	t := table.Table{Columns: []table.Column{
		table.Words("point"),
		table.Words("ahead"),
		table.Numbers(figure.Title, "mean"),
		table.Words("next"),
		table.Numbers(figure.Title, "mean of next"),
		table.Numbers("change", ""),
		table.Numbers("interval", "95 %"),
		table.Numbers("n", "lives"),
		table.Words("verdict"),
	}}
	for _, c := range contests {
		if len(c.others) == 0 {
			continue
		}
		o := c.others[0]
		mine, theirs := c.mean*figure.Scale, o.mean*figure.Scale
		verdict := string(c.verdict())
		if c.verdict() == compare.CannotTell {
			verdict = verdictText(o.diff)
			if o.diff.Verdict != compare.CannotTell {
				verdict = "better than the next, not than all"
			}
		}
		row := table.Row{}
		for _, text := range []string{
			text.Clean(c.point), c.name(), table.Number(&mine, table.DigitsOf(mine)), variantName(o.cell), table.Number(&theirs, table.DigitsOf(theirs)),
			changeText(o.diff.Delta), intervalText(o.diff), fmt.Sprintf("%d/%d", o.diff.Candidate.N, o.diff.Baseline.N), verdict,
		} {
			row.Cells = append(row.Cells, table.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return table.Table{}
	}
	return t
}
