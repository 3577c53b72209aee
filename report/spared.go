package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// differenceParts are what a run says about its variants beside the baseline: how
// large noise is, the differences, or in their place what a search, a tuning, a
// factorial or a bisection found, and what was not needed to know it.
func differenceParts(run *results.Run) []table.Piece {
	if run.Manifest.Search != nil {
		return slices.Concat(studies.SearchParts(run), notNeededParts(run), differences.NodeParts(run))
	}
	if run.Manifest.Blame != nil {
		return slices.Concat(studies.BlameParts(run), notNeededParts(run))
	}
	if run.Manifest.Bisect != nil {
		return slices.Concat(studies.BisectParts(run), notNeededParts(run))
	}
	if run.Manifest.Tune != nil {
		return slices.Concat(studies.TuneParts(run), notNeededParts(run))
	}
	return slices.Concat(nullTestParts(run), differences.PairParts(run), notNeededParts(run))
}

// notNeededParts say which planned steps were not needed, and why; none where all
// were.
func notNeededParts(run *results.Run) []table.Piece {
	var order []string
	of := map[string][]string{}
	for i := range run.NotNeeded {
		r := run.NotNeeded[i].Result
		line := fmt.Sprintf("%s: %s", r.Failure.Class, text.Clean(r.Failure.Message))
		order = text.AppendNew(order, line)
		of[line] = append(of[line], r.Step.ID)
	}

	if len(order) == 0 {
		return nil
	}

	p := table.Piece{Title: "Left out", Intro: notNeededIntro(run)}
	for _, line := range order {
		p.Notes = append(p.Notes, fmt.Sprintf("%s (%s: %s)", line, text.Count(len(of[line]), "step"),
			text.Few(of[line])))
	}

	return []table.Piece{p}
}

func notNeededIntro(run *results.Run) []string {
	var lines []string
	if m := run.Manifest.Repeats; m != nil {
		lines = append(lines, fmt.Sprintf("Repeats: %d to %d, until every 95 %% interval is at most ±%.4g %% of its "+
			"mean. Intervals that stopped the repeats are slightly too narrow.",
			m.Min, m.Max, 100*m.Until))
	}
	if m := run.Manifest.Prune; m != nil {
		lines = append(lines, fmt.Sprintf("Load points above one at which %s, or at which requests failed, were "+
			"skipped in that repeat and all later ones.", anyOf(m.When)))
	}
	return lines
}

func anyOf(all []results.Condition) string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = studies.ConditionText(c)
	}
	return strings.Join(texts, " or ")
}

// notNeededCount is how many steps could have been needed and were not, for the line
// that counts steps. Of the planned steps of a tuning or a bisection most cannot be
// needed, whatever comes out.
func notNeededCount(run *results.Run) string {
	counts := map[results.FailureClass]int{}
	for i := range run.NotNeeded {
		counts[run.NotNeeded[i].Result.Failure.Class]++
	}
	if most := run.Manifest.MostSteps; most > 0 {
		counts[results.FailNotNeeded] = min(counts[results.FailNotNeeded], most-len(run.Steps))
	}
	text := ""
	if n := counts[results.FailNotNeeded]; n > 0 {
		text += fmt.Sprintf("; %d more were not needed", n)
	}
	if n := counts[results.FailPruned]; n > 0 {
		text += fmt.Sprintf("; %d more were pruned", n)
	}
	return text
}

// nullTestParts say what two arms of one configuration differed by: whatever is
// smaller is noise.
func nullTestParts(run *results.Run) []table.Piece {
	name := run.Manifest.NullTest
	if name == "" {
		return nil
	}

	p := table.Piece{
		Title: "Null test",
		Intro: []string{fmt.Sprintf("%s is %s again, run in the same order. The difference between the two is the "+
			"noise of this run: a change that is not larger means nothing.",
			text.Clean(name), text.Clean(versus.BaselineOf(run)))},
	}

	sets := slices.DeleteFunc(versus.DifferencesBy(run, 1),
		func(s versus.Pair) bool { return s.Candidate.Variant != name })
	if loud := falseAlarms(sets); loud != "" {
		p.Intro = append([]string{loud}, p.Intro...)
	}

	p.Table = noiseTable(sets)
	if len(p.Table.Rows) == 0 {
		p.Notes = []string{"The two variants have no figures to compare."}
	}

	return []table.Piece{p}
}

// falseAlarms is the warning that two identical arms were called different; "":
// they were not.
func falseAlarms(sets []versus.Pair) string {
	var found []string
	for _, s := range sets {
		for _, d := range s.Differences {
			if d.Verdict == compare.Better || d.Verdict == compare.Worse {
				found = append(found, fmt.Sprintf("%s at %s %s", d.Figure, text.Clean(s.Point),
					versus.ChangeText(d.Delta)))
			}
		}
	}

	if found == nil {
		return ""
	}

	return fmt.Sprintf("WARNING: two variants of one configuration differ: %s. Something other than the variants "+
		"changed during this run (or this is a rare false alarm): do not trust differences of this size.",
		text.Few(found))
}

// noiseTable has a row for each figure: the largest change over the points.
func noiseTable(sets []versus.Pair) table.Table {
	c := table.Table{Columns: []table.Column{
		table.Words("figure"), table.Numbers("largest change", ""),
		table.Numbers("interval", "95 %"), table.Words("at"), table.Numbers("n", "starts"), table.Words("verdict"),
	}}
	var names []string
	largest := map[string]compare.Difference{}
	at := map[string]string{}
	for _, s := range sets {
		for _, d := range s.Differences {
			if d.Delta == nil {
				continue
			}
			names = text.AppendNew(names, d.Figure)
			if was, known := largest[d.Figure]; !known || abs(*d.Delta) > abs(*was.Delta) {
				largest[d.Figure], at[d.Figure] = d, s.Point
			}
		}
	}

	for _, name := range names {
		d := largest[name]
		r := table.Row{}
		for _, text := range []string{
			titleOf(name), versus.ChangeText(d.Delta), versus.IntervalText(d), text.Clean(at[name]),
			fmt.Sprintf("%d/%d", d.Baseline.N, d.Candidate.N), versus.VerdictText(d),
		} {
			r.Cells = append(r.Cells, table.Cell{Text: text})
		}
		c.Rows = append(c.Rows, r)
	}

	return c
}

func abs(x float64) float64 { return max(x, -x) }

// titleOf is what people call a figure.
func titleOf(name string) string {
	if f, err := catalog.Find(name); err == nil && f.Title != "" {
		return f.Title
	}
	return name
}
