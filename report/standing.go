package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/studies"
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

// StandingOf compares the best variant of each point with all others there, by
// the output throughput, or where the load sets that (a request rate) by the
// median end-to-end latency. Steps that failed or are suspect are left out, as
// are simulated ones where some are real.
func StandingOf(run *results.Run) Standing {
	if run.Manifest.Search != nil {
		return searchStanding(run)
	}

	figure, ok := versus.StandingFigure(run)
	if !ok {
		return Standing{}
	}

	contests := versus.Contests(run, figure)
	if len(contests) == 0 {
		return Standing{}
	}

	versus.Judge(contests, figure, versus.RuleOf(run.Manifest))
	s := Standing{Table: standingTable(contests, figure)}
	for _, c := range contests {
		s.Told = s.Told || c.Verdict() == compare.Better
	}

	if !slices.ContainsFunc(contests, func(c versus.Contest) bool { return len(c.Others) > 0 }) {
		s.Lines = aloneLines(contests, figure)
		return s
	}

	s.Lines = append(winLines(contests, figure), openLines(contests, figure)...)

	return s
}

func nameOf(c versus.Contest) string { return grid.VariantName(c.Best) }

// aheadText says by how much: "12.30 % more output tok/s than tp8 (...)".
func aheadText(c versus.Contest, figure catalog.Figure) string {
	o := c.Others[0]
	more := "more"
	if !figure.Higher {
		more = "less"
	}
	if o.Diff.Delta == nil {
		return "ahead of " + grid.VariantName(o.Cell)
	}
	text := fmt.Sprintf("%.2f %% %s %s than %s", 100*math.Abs(*o.Diff.Delta), more, figure.Title,
		grid.VariantName(o.Cell))
	lives := fmt.Sprintf("%d and %d server lives", o.Diff.Candidate.N, o.Diff.Baseline.N)
	if o.Diff.Low == nil {
		return text + " (" + lives + ", no interval)"
	}
	return text + fmt.Sprintf(" (95 %% interval of the change %s, %s)", versus.IntervalText(o.Diff), lives)
}

// winLines name the winners, the one with the most points first.
func winLines(contests []versus.Contest, figure catalog.Figure) []string {
	won := map[string][]versus.Contest{}
	var names []string
	decidable := 0
	for _, c := range contests {
		if len(c.Others) == 0 {
			continue
		}
		decidable++
		if c.Verdict() == compare.Better {
			won[nameOf(c)] = append(won[nameOf(c)], c)
			names = text.AppendNew(names, nameOf(c))
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
		p := versus.Peak(won[name], figure)
		if len(won[name]) > 1 {
			where += fmt.Sprintf("; at %s", text.Clean(p.Point))
		}
		parts = append(parts, fmt.Sprintf("%s wins %s: %s", name, where, aheadText(p, figure)))
	}

	return []string{strings.Join(parts, ". ") + "."}
}

// openLines say where there is no winner, and what would bring one.
func openLines(contests []versus.Contest, figure catalog.Figure) []string {
	var open, same []versus.Contest
	for _, c := range contests {
		switch c.Verdict() {
		case compare.CannotTell:
			open = append(open, c)
		case compare.NoDifference:
			same = append(same, c)
		default:
		}
	}

	var lines []string
	if len(same) > 0 {
		p := versus.Peak(same, figure)
		lines = append(lines, fmt.Sprintf("No difference that matters at %s: at %s %s has %s.", namesOfPoints(same),
			text.Clean(p.Point), nameOf(p), aheadText(p, figure)))
	}

	if len(open) == 0 {
		return lines
	}

	p := versus.Peak(open, figure)
	line := fmt.Sprintf("Cannot tell which is best at %s", namesOfPoints(open))
	if len(open) == len(contests) && len(open) > 1 {
		line = fmt.Sprintf("Cannot tell which is best at any of %d points", len(open))
	}

	line += fmt.Sprintf(": at %s %s has %s", text.Clean(p.Point), nameOf(p), aheadText(p, figure))
	switch more := p.RepeatsNeeded(); {
	case more >= compare.MaxRepeats:
		line += "; no number of repeats would tell at this spread"
	case more > 0:
		line += fmt.Sprintf("; %s of each would tell", text.Count(more, "more repeat"))
	}

	return append(lines, line+".")
}

// aloneLines are for runs of one variant.
func aloneLines(contests []versus.Contest, figure catalog.Figure) []string {
	p := versus.Peak(contests, figure)
	value := p.Mean * figure.Scale
	return []string{fmt.Sprintf("Nothing to compare %s with: no point has two sound variants. Its best %s is %s, at "+
		"%s, over %s.",
		nameOf(p), figure.Title, table.Number(&value, table.DigitsOf(value)), text.Clean(p.Point),
		text.Count(len(p.Best.PerLife(figure.Of)), "server life"))}
}

func namesOfPoints(contests []versus.Contest) string {
	names := make([]string, len(contests))
	for i, c := range contests {
		names[i] = c.Point
	}
	return text.Few(names)
}

func standingTable(contests []versus.Contest, figure catalog.Figure) table.Table {
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
		if len(c.Others) == 0 {
			continue
		}
		o := c.Others[0]
		mine, theirs := c.Mean*figure.Scale, o.Mean*figure.Scale
		verdict := string(c.Verdict())
		if c.Verdict() == compare.CannotTell {
			verdict = versus.VerdictText(o.Diff)
			if o.Diff.Verdict != compare.CannotTell {
				verdict = "better than the next, not than all"
			}
		}
		row := table.Row{}
		for _, text := range []string{
			text.Clean(c.Point), nameOf(c), table.Number(&mine, table.DigitsOf(mine)), grid.VariantName(o.Cell),
			table.Number(&theirs, table.DigitsOf(theirs)),
			versus.ChangeText(o.Diff.Delta), versus.IntervalText(o.Diff),
			fmt.Sprintf("%d/%d", o.Diff.Candidate.N, o.Diff.Baseline.N), verdict,
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

// searchStanding says which variant bears the highest load; the arm of a null test is none.
func searchStanding(run *results.Run) Standing {
	searches := search.Of(run)
	diffs := versus.LimitDifferences(run, searches)
	policy := run.Manifest.Search
	s := Standing{Table: studies.LimitTable(run, searches)}
	for _, variant := range versus.VariantsOf(run) {
		met, missed, ended, all := versus.LimitsOf(searches, variant)
		if all == 0 || variant == run.Manifest.NullTest {
			continue
		}
		txt := fmt.Sprintf("%s: no limit was found", text.Clean(variant))
		if ended > 0 {
			txt = fmt.Sprintf("%s meets the targets up to %s %s (missed at %s; %s)", text.Clean(variant),
				studies.SpreadText(met), studies.SearchUnit(policy), studies.SpreadText(missed),
				text.Count(ended, "search"))
		} else if i := slices.IndexFunc(searches, func(o search.Run) bool { return o.Variant == variant }); i >= 0 {
			txt = fmt.Sprintf("%s: %s", text.Clean(variant), studies.EndText(policy, searches[i]))
		}
		if d, ok := diffs[variant]; ok {
			txt += fmt.Sprintf("; against %s %s, %s", text.Clean(versus.BaselineOf(run)), versus.ChangeText(d.Delta),
				versus.VerdictText(d))
			s.Told = s.Told || d.Verdict == compare.Better || d.Verdict == compare.Worse
		}
		s.Lines = append(s.Lines, txt+".")
	}

	return s
}
