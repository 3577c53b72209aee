package differences

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// PairParts draws the comparisons of a run.
func PairParts(run *results.Run) []table.Piece {
	all := versus.DifferencesBy(run, 1) // the bootstrap's intervals are not shown
	if len(all) == 0 {
		return NodeParts(run)
	}
	figures := catalog.FiguresOf(run.Results())
	parts := []table.Piece{{
		Title: "Differences",
		Intro: []string{ruleText(versus.RuleOf(run.Manifest), versus.BaselineOf(run))},
	}}
	if figure, ok := versus.StandingFigure(run); ok {
		parts[0].Intro = append(parts[0].Intro, figure.Title+" decides the verdict of the report: it is corrected "+
			"over all load points and variants instead.")
	}
	for _, s := range all {
		parts = append(parts, pairPart(&s, figures, text.Clean(s.Baseline.Variant), text.Clean(s.Candidate.Variant)))
	}
	return append(parts, NodeParts(run)...)
}

func ruleText(rule compare.Rule, baseline string) string {
	return fmt.Sprintf("Compared with %s. n: server starts (the steps of one start are averaged first). Intervals of "+
		"the change: %s %% (Welch). Verdicts use Holm's correction over the figures of a pair at a load point; \"no "+
		"difference\" means that the interval lies within ±%s %%.", text.Clean(baseline),
		table.Percent(rule.Confidence),
		table.Percent(rule.Margin))
}

// pairPart draws one comparison. The names are those of the sides.
func pairPart(s *versus.Pair, figures []catalog.Figure, baseline, candidate string) table.Piece {
	p := table.Piece{Title: text.Clean(s.Point) + ": " + candidate + " against " + baseline, Below: true}
	if s.NotCompared != "" {
		p.Intro = append(p.Intro, "not comparable: "+s.NotCompared)
	}

	p.Intro = append(p.Intro, s.Failed...)
	if len(s.Differ) > 0 {
		p.Intro = append(p.Intro, "what differs: "+versus.ChangesText(s.Differ))
	}

	p.Notes = slices.Clone(s.Notes)
	for _, line := range s.Outliers {
		p.Notes = append(p.Notes, "outlier (counted): "+text.Clean(line))
	}

	for _, line := range s.Drifts {
		p.Notes = append(p.Notes, "drift: "+text.Clean(line))
	}

	p.Table = pairTable(s, figures, baseline, candidate)
	return p
}

// twoSides is an empty table of figures of two sides.
func twoSides(one, other string) table.Table {
	return table.Table{Keys: []int{0, 6}, Columns: []table.Column{
		table.Words("figure"),
		table.Numbers(one, "mean ± sd"),
		table.Numbers(other, "mean ± sd"),
		table.Numbers("n", "starts"),
		table.Numbers("change", ""),
		table.Numbers("interval", ""),
		table.Words("verdict"),
	}}
}

func pairTable(s *versus.Pair, figures []catalog.Figure, baseline, candidate string) table.Table {
	if len(s.Differences) == 0 {
		return table.Table{}
	}

	c := twoSides(sideName(s.Baseline, baseline), sideName(s.Candidate, candidate))

	var marks strings.Builder
	for _, d := range s.Differences {
		f := catalog.Among(figures, d.Figure)
		base, with := marksOf(f, s.Baseline), marksOf(f, s.Candidate)
		marks.WriteString(base + with)
		c.Rows = append(c.Rows, table.Row{Cells: []table.Cell{
			{Text: f.Title},
			{Text: meanText(d.Baseline, f, base)},
			{Text: meanText(d.Candidate, f, with)},
			{Text: fmt.Sprintf("%d/%d", d.Baseline.N, d.Candidate.N)},
			{Text: versus.ChangeText(d.Delta)},
			{Text: versus.IntervalText(d)},
			{Text: versus.VerdictText(d), Short: versus.ShortVerdict(d)},
		}})
	}

	c.Legend = grid.MarkLegend(marks.String())

	return c
}

// isSuspect reports whether a side's figures are those of suspect repeats.
func isSuspect(c compare.Cell) bool {
	return len(c.Counted) > 0 && c.Counted[0].Verdict == results.Suspect
}

// sideName marks what a side's figures are.
func sideName(c compare.Cell, name string) string {
	if isSuspect(c) {
		name = versus.SuspectMark + name
	}
	if c.IsSimulated() {
		name += grid.Simulated
	}
	return name
}

// marksOf is what a reader must know of a side's figure.
func marksOf(f catalog.Figure, c compare.Cell) string {
	mark := ""
	if f.P > 0 && slices.ContainsFunc(c.Counted, func(r *results.Result) bool {
		return r.Figures != nil && f.Sample != nil && f.Sample(r.Figures).N < metrics.SamplesFor(f.P)
	}) {
		mark = grid.ThinMark
	}
	if c.Extrapolated() != nil {
		mark += grid.ExtrapolatedMark
	}
	return mark
}

// meanText shows a mean and its sample deviation, with the digits that it
// needs.
func meanText(s compare.Summary, f catalog.Figure, mark string) string {
	if s.Mean == nil {
		return table.Missing
	}
	mean := *s.Mean * f.Scale
	digits := table.DigitsOf(mean)
	text := mark + table.Number(&mean, digits)
	if s.SD != nil {
		sd := *s.SD * f.Scale
		text += " ± " + table.Number(&sd, digits)
	}
	return text
}
