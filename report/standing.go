package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/bisect"
	"github.com/benchrig/bench/metrics/blame"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/search"
	"github.com/benchrig/bench/metrics/tune"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Standing says in a sentence or two which variant did best, by how much, how
// sure that is, and over how many server starts; and where that is not known.
type Standing struct {
	Lines   []string    // sentences, the most important first; none: there is nothing to compare
	Decided bool        // at least one point has a winner
	Table   table.Table // point by point
}

// StandingOf compares the best variant of each point with all others there, by
// the output throughput, or where the load sets that (a request rate) by the
// median end-to-end latency. Steps that failed or are suspect are left out, as
// are simulated ones where some are real.
func StandingOf(run *results.Run) Standing {
	if run.Manifest.Search != nil {
		return searchStanding(run)
	}
	if run.Manifest.Tune != nil {
		return tuneStanding(run)
	}
	if run.Manifest.Bisect != nil {
		return bisectStanding(run)
	}
	if run.Manifest.Blame != nil {
		return blameStanding(run)
	}

	figure, ok := versus.StandingFigure(run)
	contests := []versus.Contest{}
	if ok {
		contests = versus.Contests(run, figure)
	}
	if len(contests) == 0 {
		return nothingStands(run)
	}

	versus.Judge(contests, figure, versus.RuleOf(run.Manifest))
	s := Standing{Table: standingTable(contests, figure)}
	for _, c := range contests {
		s.Decided = s.Decided || c.Verdict() == compare.Better
	}

	if !slices.ContainsFunc(contests, func(c versus.Contest) bool { return len(c.Others) > 0 }) {
		s.Lines = aloneLines(run, contests, figure)
		return s
	}

	s.Lines = append(winLines(contests, figure), openLines(contests, figure)...)
	alone := slices.DeleteFunc(slices.Clone(contests), func(c versus.Contest) bool {
		return len(c.Others) > 0 || c.Unranked != nil
	})
	if len(alone) > 0 {
		s.Lines = append(s.Lines, fmt.Sprintf("Only one variant has valid figures%s.", atPoints(alone)))
	}
	if points := pointsWithoutValid(run, contests); len(points) > 0 {
		there := slices.DeleteFunc(run.Results(), func(r *results.Result) bool {
			return !slices.Contains(points, r.Step.Point)
		})
		s.Lines = append(s.Lines, fmt.Sprintf("No valid figures at %s%s.", text.Few(points), reasonsText(there)))
	}

	return s
}

// nothingStands says that no step can be compared; nothing of a run without
// steps, or of one that has not come to any.
func nothingStands(run *results.Run) Standing {
	tried := func(r *results.Result) bool { return r.Verdict != results.NotRun }
	if !slices.ContainsFunc(run.Results(), tried) {
		return Standing{}
	}

	return Standing{Lines: []string{fmt.Sprintf("Nothing to compare: no step of this run has valid figures%s.",
		reasonsText(run.Results()))}}
}

// reasonsText names the warnings that disqualified steps and the classes of failed
// ones: " (client-limit, out-of-memory)"; "" where there are none.
func reasonsText(steps []*results.Result) string {
	var reasons []string
	for _, r := range steps {
		if r.Verdict == results.Failed && r.Failure != nil { // its warnings tell what came of that
			reasons = text.AppendNew(reasons, string(r.Failure.Class))
			continue
		}
		for _, w := range metrics.Doubts(r) {
			reasons = text.AppendNew(reasons, string(w.Code))
		}
	}
	if len(reasons) == 0 {
		return ""
	}

	return " (" + text.Few(reasons) + ")"
}

// pointsWithoutValid are the load points that were measured or tried and have
// no contest.
func pointsWithoutValid(run *results.Run, contests []versus.Contest) []string {
	var points []string
	for _, r := range run.Results() {
		contested := slices.ContainsFunc(contests, func(c versus.Contest) bool { return c.Point == r.Step.Point })
		if r.Verdict != results.NotRun && !contested {
			points = text.AppendNew(points, r.Step.Point)
		}
	}

	return points
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

	percent, digits := 100*math.Abs(*o.Diff.Delta), 2
	if percent >= 100 {
		digits = 0
	}
	text := fmt.Sprintf("%.*f %% %s %s than %s", digits, percent, more, figure.Title, grid.VariantName(o.Cell))
	starts := fmt.Sprintf("%d and %d server starts", o.Diff.Candidate.N, o.Diff.Baseline.N)
	switch {
	case o.Diff.Candidate.N == 1 && o.Diff.Baseline.N == 1:
		return text + " (one server start each, so no interval)"
	case o.Diff.Low == nil:
		return text + " (" + starts + ", no interval)"
	}

	return text + fmt.Sprintf(" (95 %% interval of the change %s, %s)", versus.IntervalText(o.Diff), starts)
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
		where := atPoints(won[name])
		if len(won[name]) == decidable && decidable > 1 {
			where = fmt.Sprintf(" at all %d load points", decidable)
		}
		p := versus.Peak(won[name], figure)
		if len(won[name]) > 1 {
			where += ";" + atPoints([]versus.Contest{p})
		}
		parts = append(parts, fmt.Sprintf("%s wins%s: %s", name, where, aheadText(p, figure)))
	}

	return []string{strings.Join(parts, ". ") + "."}
}

// openLines say where there is no winner, and what would bring one.
func openLines(contests []versus.Contest, figure catalog.Figure) []string {
	var open, same, led []versus.Contest
	for _, c := range contests {
		switch verdict := c.Verdict(); {
		case c.Unranked != nil:
			led = append(led, c)
		case verdict == compare.CannotTell:
			open = append(open, c)
		case verdict == compare.NoDifference:
			same = append(same, c)
		}
	}

	lines := ledLines(led, figure)
	if len(same) > 0 {
		p := versus.Peak(same, figure)
		lines = append(lines, fmt.Sprintf("No relevant difference%s: %s%s has %s.", atPoints(same), which(p, same),
			nameOf(p), aheadText(p, figure)))
	}

	if len(open) == 0 {
		return lines
	}

	p := versus.Peak(open, figure)
	line := "Cannot tell which is best" + atPoints(open)
	if len(open) == len(contests) && len(open) > 1 {
		line = fmt.Sprintf("Cannot tell which is best at any of %d load points", len(open))
	}

	line += fmt.Sprintf(": %s%s has %s%s", which(p, open), nameOf(p), aheadText(p, figure),
		versus.CorrectedText(p.Others[0].Diff))
	switch more := p.RepeatsNeeded(); {
	case more >= compare.MaxRepeats:
		line += "; more repeats would not decide it at this spread"
	case more > 0:
		line += fmt.Sprintf("; %s of each would decide it", text.Count(more, "more repeat"))
	}

	return append(lines, line+".")
}

// ledLines say where a variant that is not ranked has the best figure, and why
// it is not ranked.
func ledLines(contests []versus.Contest, figure catalog.Figure) []string {
	const most = 2 // sentences of their own
	if len(contests) > most {
		return []string{fmt.Sprintf("No winner%s: the variants with the best %s there are not ranked: %s.",
			atPoints(contests), figure.Title, strings.Join(ledReasons(contests), ", "))}
	}

	var lines []string
	for _, c := range contests {
		theirs, mine := c.Unranked.Mean*figure.Scale, c.Mean*figure.Scale
		lines = append(lines, fmt.Sprintf("No winner%s: %s has the best %s (%s; %s has %s) and is not ranked: %s.",
			atPoints([]versus.Contest{c}), grid.VariantName(c.Unranked.Cell), figure.Title,
			table.Number(&theirs, table.DigitsOf(theirs)), nameOf(c), table.Number(&mine, table.DigitsOf(mine)),
			strings.Join(versus.WarningCodes(c.Unranked.Cell), ", ")))
	}

	return lines
}

// ledReasons are "tp1 (client-limit)", each variant once.
func ledReasons(contests []versus.Contest) []string {
	var reasons []string
	for _, c := range contests {
		reasons = text.AppendNew(reasons, fmt.Sprintf("%s (%s)", grid.VariantName(c.Unranked.Cell),
			strings.Join(versus.WarningCodes(c.Unranked.Cell), ", ")))
	}

	return reasons
}

// aloneLines are for runs in which no two variants can be compared.
func aloneLines(run *results.Run, contests []versus.Contest, figure catalog.Figure) []string {
	p := versus.Peak(contests, figure)
	value := p.Mean * figure.Scale

	why := "No load point has two variants with valid figures, so nothing is compared"
	if !slices.ContainsFunc(contests, func(c versus.Contest) bool { return c.Best.Variant != p.Best.Variant }) {
		why = "Only one variant has valid figures, so nothing is compared"
	}
	if len(versus.VariantsOf(run)) == 1 {
		why = "The run has one variant, so nothing is compared"
	}
	if run.Manifest.Method == results.MethodColdStart && len(contests) > 1 {
		var states []string
		for _, c := range contests {
			value := c.Mean * figure.Scale
			states = append(states, fmt.Sprintf("%s %s for %s at %s", table.Number(&value, table.DigitsOf(value)),
				figure.Unit, nameOf(c), c.Point))
		}
		return []string{fmt.Sprintf("%s: %s.", strings.TrimSuffix(figure.Title, " "+figure.Unit),
			strings.Join(states, ", "))}
	}
	if versus.OtherTests(run, p.Best.Variant) {
		why = "No two variants ran the same test of the same model, so nothing is compared"
	}

	return []string{fmt.Sprintf("%s: the best %s is %s, of %s%s, over %s.", why, figure.Title,
		table.Number(&value, table.DigitsOf(value)), nameOf(p), atPoints([]versus.Contest{p}),
		text.Count(len(p.Best.PerLife(figure.Of)), "server start"))}
}

// atPoints is " at c8, c16"; "" for the one load point of a run without a sweep.
func atPoints(contests []versus.Contest) string {
	var names []string
	for _, c := range contests {
		names = append(names, c.Point)
	}
	if len(names) == 1 && names[0] == onlyPoint {
		return ""
	}

	return " at " + text.Few(names)
}

// onlyPoint is the name of the load point of a run without a sweep.
const onlyPoint = "all"

// which is "at c8, " where the sentence so far names several load points.
func which(p versus.Contest, of []versus.Contest) string {
	if len(of) == 1 {
		return ""
	}

	return strings.TrimPrefix(atPoints([]versus.Contest{p}), " ") + ", "
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
		table.Numbers("n", "starts"),
		table.Words("verdict"),
	}}

	for _, c := range contests {
		if len(c.Others) == 0 {
			continue
		}
		o := c.Others[0]
		mine, theirs := c.Mean*figure.Scale, o.Mean*figure.Scale
		verdict := string(c.Verdict())
		switch {
		case c.Unranked != nil:
			verdict = fmt.Sprintf("no winner: %s is better and not ranked", grid.VariantName(c.Unranked.Cell))
		case c.Verdict() == compare.CannotTell:
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

// searchStanding says which variant bears the highest load; a null test has no such variant.
func searchStanding(run *results.Run) Standing {
	searches := search.Of(run)
	diffs := versus.LimitDifferences(run, searches)
	policy := run.Manifest.Search
	s := Standing{Table: studies.LimitTable(run, searches)}
	for _, variant := range versus.VariantsOf(run) {
		met, missed, ended, all := search.LimitsOf(searches, variant)
		if all == 0 || variant == run.Manifest.NullTest {
			continue
		}
		line := fmt.Sprintf("%s: no limit found", text.Clean(variant))
		if ended > 0 {
			least, why := "", ""
			if limited, steps := search.ClientLimited(searches, variant); limited > 0 {
				least = "at least "
				why = fmt.Sprintf("; the client was the limit in %d of %s, so the server may handle more", limited,
					text.Count(steps, "step"))
			}
			grew := func(o search.Run) bool { return o.Variant == variant && o.Backlog() != nil }
			if slices.ContainsFunc(searches, grew) {
				why += "; its queue grew at that load, see below"
			}
			line = fmt.Sprintf("%s meets the targets up to %s%s %s (missed at %s; %s%s)", text.Clean(variant), least,
				studies.SpreadText(met), studies.SearchUnit(policy), studies.SpreadText(missed),
				text.Count(ended, "search"), why)
		} else if i := slices.IndexFunc(searches, func(o search.Run) bool { return o.Variant == variant }); i >= 0 {
			line = fmt.Sprintf("%s: %s", text.Clean(variant), studies.EndText(policy, searches[i]))
		}
		if d, ok := diffs[variant]; ok {
			verdict, words := versus.LimitVerdict(run, searches, variant, d)
			line += fmt.Sprintf("; against %s %s, %s", text.Clean(versus.BaselineOf(run)),
				versus.ChangeText(d.Delta), words)
			s.Decided = s.Decided || verdict == compare.Better || verdict == compare.Worse
		}
		s.Lines = append(s.Lines, line+".")
	}

	return s
}

// tuneStanding says which recipe a tuning found.
func tuneStanding(run *results.Run) Standing {
	o := tune.Of(run, versus.RuleOf(run.Manifest))
	if o.Over == 0 {
		return nothingStands(run)
	}
	return Standing{
		Lines:   studies.TuneLines(run, o),
		Decided: o.Confirmed != nil && o.Confirmed.Verdict == compare.Better,
	}
}

// blameStanding says which settings made a difference.
func blameStanding(run *results.Run) Standing {
	o := blame.Of(run, versus.RuleOf(run.Manifest))
	if o.Starts == 0 {
		return nothingStands(run)
	}
	s := Standing{Lines: studies.BlameLines(run, o)}
	for _, p := range o.Points {
		for _, e := range p.Effects {
			s.Decided = s.Decided || e.Verdict == compare.Better || e.Verdict == compare.Worse
		}
	}
	return s
}

// bisectStanding says with which version a figure changed.
func bisectStanding(run *results.Run) Standing {
	o := bisect.Of(run, versus.RuleOf(run.Manifest))
	if !o.Started {
		return nothingStands(run)
	}
	return Standing{Lines: studies.BisectLines(run, o), Decided: o.Stage == bisect.Over && o.Found()}
}
