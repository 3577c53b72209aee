package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// set is a candidate beside the baseline at one point, with what readers must
// know of it.
type set struct {
	compare.Pair
	never  string   // why the two are not compared; "": they are
	failed []string // sides without figures, in their own words
	notes  []string
	differ []change // of the recipes
}

// ruleOf is the rule of a run's scenario.
func ruleOf(m results.Manifest) compare.Rule {
	rule := compare.DefaultRule()
	if m.SmallestDifference != nil && *m.SmallestDifference > 0 {
		rule.Margin = *m.SmallestDifference
	}
	return rule
}

// baselineOf is the variant that the others of a run are compared to; "" where
// it has none.
func baselineOf(run *results.Run) string {
	names := variantsOf(run)
	if slices.Contains(names, run.Manifest.Baseline) {
		return run.Manifest.Baseline
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// variantsOf are the variants of a run in the order of its scenario.
func variantsOf(run *results.Run) []string {
	names := slices.Clone(run.Manifest.Variants)
	for _, s := range run.Steps {
		names = text.AppendNew(names, s.Result.Step.Variant)
	}
	return names
}

// asTheyRan orders the steps of a run by when each was last begun.
func asTheyRan(run *results.Run) []*results.Result {
	began := make(map[string]int)
	for i, e := range run.Events {
		if e.Kind == results.StepStarted {
			began[e.Step] = i + 1
		}
	}
	steps := stepResults(run)
	slices.SortStableFunc(steps, func(a, b *results.Result) int { return cmp.Compare(began[a.Step.ID], began[b.Step.ID]) })
	return steps
}

// driftAlpha is the rate of false alarms of the test for drift.
const driftAlpha = 0.05

// differences compares every variant of a run with its baseline, point by
// point; none where there is one variant or no repeat.
func differences(run *results.Run) []set { return differencesBy(run, 0) }

// differencesBy is differences with so many rounds of the bootstrap; 0: the
// usual number.
func differencesBy(run *results.Run, rounds int) []set {
	cells := compare.CellsOf(run.Manifest, asTheyRan(run))
	if !anyRepeats(cells) {
		return nil
	}
	figures, rule := defaultFigures(stepResults(run)), ruleOf(run.Manifest)
	rule.Rounds = rounds
	var all []set
	for _, candidate := range cells {
		if candidate.Variant == baselineOf(run) {
			continue
		}
		at := slices.IndexFunc(cells, func(c compare.Cell) bool { return c.Point == candidate.Point && c.Variant == baselineOf(run) })
		if at < 0 {
			continue
		}
		s := contrast(cells[at], candidate, figures, rule)
		s.differ = recipeChanges(cells[at], candidate)
		if why := promptsDiffer(cells[at], candidate); why != "" {
			s.notes = append(s.notes, why)
		}
		all = append(all, s)
	}
	return all
}

func recipeChanges(baseline, candidate compare.Cell) []change {
	b, c := withServers(baseline), withServers(candidate)
	if b == nil || c == nil {
		return nil
	}
	if changes, unknown := unknownRecipe(b, c); unknown {
		return changes
	}
	return recipeOf(b).changes(recipeOf(c))
}

// withServers is a step of the cell that says how its server was started.
func withServers(c compare.Cell) *results.Result {
	for _, r := range slices.Concat(c.Counted, c.Steps) {
		if len(r.Servers) > 0 {
			return r
		}
	}
	return nil
}

func defaultFigures(steps []*results.Result) []catalog.Figure {
	return slices.DeleteFunc(catalog.FiguresOf(steps), func(f catalog.Figure) bool { return f.Extra })
}

// contrast compares two cells, or says why not.
func contrast(baseline, candidate compare.Cell, figures []catalog.Figure, rule compare.Rule) set {
	s := set{never: kindDiffers(baseline, candidate), Pair: compare.Pair{Point: candidate.Point, Baseline: baseline, Candidate: candidate}}
	for _, c := range []compare.Cell{baseline, candidate} {
		if len(c.Counted) == 0 {
			s.failed = append(s.failed, fmt.Sprintf("%s has no figures: %s", text.Clean(c.Variant), strings.Join(uncounted(c), "; ")))
		}
	}
	if s.never != "" || len(s.failed) > 0 {
		return s
	}
	s.Pair = compare.PairOf(baseline, candidate, figures, rule)
	s.Remarks(figures, driftAlpha)
	s.notes = append(sideNotes(baseline), sideNotes(candidate)...)
	if compare.OnOtherNodes(baseline, candidate) {
		s.notes = append(s.notes, fmt.Sprintf("%s ran on %s and %s on %s: a difference may be that of the nodes", text.Clean(baseline.Variant), strings.Join(text.CleanAll(compare.NodesOf(baseline)), ", "),
			text.Clean(candidate.Variant), strings.Join(text.CleanAll(compare.NodesOf(candidate)), ", ")))
	}
	return s
}

// pairParts draws the comparisons of a run.
func pairParts(run *results.Run) []table.Piece {
	all := differencesBy(run, 1) // the bootstrap's intervals are not shown
	if len(all) == 0 {
		return nodeParts(run)
	}
	figures := catalog.FiguresOf(stepResults(run))
	parts := []table.Piece{{Title: "Differences", Intro: []string{ruleText(ruleOf(run.Manifest), baselineOf(run))}}}
	for _, s := range all {
		parts = append(parts, s.part(figures, text.Clean(s.Baseline.Variant), text.Clean(s.Candidate.Variant)))
	}
	return append(parts, nodeParts(run)...)
}

func ruleText(rule compare.Rule, baseline string) string {
	return fmt.Sprintf("Against %s. n counts server lives: steps of one life are averaged first. Intervals of the change: %s %% (Welch). Verdicts: Holm's correction over the figures of a pair at a point; "+
		"no difference: the interval lies within ±%s %%.", text.Clean(baseline), table.Percent(rule.Confidence), table.Percent(rule.Margin))
}

// part draws one comparison. The names are those of the sides.
func (s *set) part(figures []catalog.Figure, baseline, candidate string) table.Piece {
	p := table.Piece{Title: text.Clean(s.Point) + ": " + candidate + " against " + baseline, Below: true}
	if s.never != "" {
		p.Intro = append(p.Intro, "not comparable: "+s.never)
	}
	p.Intro = append(p.Intro, s.failed...)
	if len(s.differ) > 0 {
		p.Intro = append(p.Intro, "what differs: "+against(s.differ))
	}
	p.Notes = slices.Clone(s.notes)
	for _, line := range s.Outliers {
		p.Notes = append(p.Notes, "outlier, counted all the same: "+text.Clean(line))
	}
	for _, line := range s.Drifts {
		p.Notes = append(p.Notes, "drift: "+text.Clean(line))
	}
	p.Table = s.table(figures, baseline, candidate)
	return p
}

func (s *set) table(figures []catalog.Figure, baseline, candidate string) table.Table {
	if len(s.Differences) == 0 {
		return table.Table{}
	}
	c := table.Table{Keys: []int{0, 6}, Columns: []table.Column{
		table.Words("figure"),
		table.Numbers(sideName(s.Baseline, baseline), "mean ± sd"),
		table.Numbers(sideName(s.Candidate, candidate), "mean ± sd"),
		table.Numbers("n", "lives"),
		table.Numbers("change", ""),
		table.Numbers("interval", ""),
		table.Words("verdict"),
	}}
	var marks strings.Builder
	for _, d := range s.Differences {
		f := figureNamed(figures, d.Figure)
		base, with := marksOf(f, s.Baseline), marksOf(f, s.Candidate)
		marks.WriteString(base + with)
		c.Rows = append(c.Rows, table.Row{Cells: []table.Cell{
			{Text: f.Title},
			{Text: meanText(d.Baseline, f, base)},
			{Text: meanText(d.Candidate, f, with)},
			{Text: fmt.Sprintf("%d/%d", d.Baseline.N, d.Candidate.N)},
			{Text: changeText(d.Delta)},
			{Text: intervalText(d)},
			{Text: verdictText(d), Short: shortTell(d)},
		}})
	}
	c.Legend = markLegend(marks.String())
	return c
}

// sideName marks what a side's figures are.
func sideName(c compare.Cell, name string) string {
	if len(c.Counted) > 0 && c.Counted[0].Verdict == results.Suspect {
		name = suspectMark + name
	}
	if isSimulated(c) {
		name += simulated
	}
	return name
}

func figureNamed(figures []catalog.Figure, name string) catalog.Figure {
	at := slices.IndexFunc(figures, func(f catalog.Figure) bool { return f.Name == name })
	if at < 0 {
		return catalog.Figure{Name: name, Title: name, Scale: 1}
	}
	return figures[at]
}

// marksOf is what a reader must know of a side's figure.
func marksOf(f catalog.Figure, c compare.Cell) string {
	mark := ""
	if f.P > 0 && slices.ContainsFunc(c.Counted, func(r *results.Result) bool {
		return r.Figures != nil && f.Sample != nil && f.Sample(r.Figures).N < metrics.SamplesFor(f.P)
	}) {
		mark = thinMark
	}
	if extrapolationOf(c) != nil {
		mark += extrapolatedMark
	}
	return mark
}

// meanText shows a mean and its sample deviation, with the digits that it
// needs.
func meanText(s compare.ArmSummary, f catalog.Figure, mark string) string {
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

func changeText(share *float64) string {
	if share == nil {
		return table.Missing
	}
	return fmt.Sprintf("%+.2f %%", 100**share)
}

func intervalText(d compare.Difference) string {
	if d.Low == nil {
		return table.Missing
	}
	return fmt.Sprintf("%+.2f to %+.2f %%", 100**d.Low, 100**d.High)
}

// verdictText is the verdict, and where there is none what would bring one.
func verdictText(d compare.Difference) string {
	switch {
	case d.Verdict != compare.CannotTell:
		return string(d.Verdict)
	case d.Baseline.N == 0 || d.Candidate.N == 0:
		return "cannot tell: one side does not know it in every repeat"
	case d.Delta == nil:
		return "cannot tell: the baseline is 0"
	case d.Low == nil:
		return fmt.Sprintf("cannot tell: at least %s needed", text.Count(d.MoreRepeats, "more repeat"))
	case d.MoreRepeats >= compare.MaxRepeats:
		return "cannot tell: the spread is too wide for any number of repeats"
	}
	return fmt.Sprintf("cannot tell: %s would tell", text.Count(d.MoreRepeats, "more repeat"))
}

// shortTell is verdictText for narrow terminals: "+4" are repeats.
func shortTell(d compare.Difference) string {
	if d.Verdict == compare.CannotTell && d.MoreRepeats > 0 && d.MoreRepeats < compare.MaxRepeats {
		return fmt.Sprintf("%s, +%d", d.Verdict, d.MoreRepeats)
	}
	return string(d.Verdict)
}
