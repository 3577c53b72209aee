package studies

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/bisect"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// BisectParts say with which version a figure changed: none where the run does not
// ask.
func BisectParts(run *results.Run) []table.Piece {
	policy := run.Manifest.Bisect
	if policy == nil {
		return nil
	}

	o := bisect.Of(run, versus.RuleOf(run.Manifest))
	intro := []string{fmt.Sprintf("The version with which %s changed, among %d in their order. Each round started the "+
		"two versions between which the change lies and one in between, in a random order. All decisions together "+
		"are right with 95 %% confidence, if there is one change.", policy.Figure, len(o.Versions))}
	if o.Suspect {
		intro = append(intro, "Suspect steps were used.")
	}
	return []table.Piece{{Title: "Versions", Intro: intro, Table: versionTable(policy, o), Notes: BisectLines(run, o)}}
}

// versionTable has a row for each version that was started, in their order.
func versionTable(policy *results.BisectPolicy, o bisect.Outcome) table.Table {
	c := table.Table{Columns: []table.Column{
		table.Words("version"), table.Numbers(policy.Figure, "mean"), table.Numbers("n", "starts"),
		table.Words("outcome"),
	}, Keys: []int{0}}
	for i, v := range o.Versions {
		outcome := versionOutcome(o, i)
		if outcome == "" {
			continue
		}
		row := table.NewRow(text.Clean(v.Name), figureText(v.Mean), strconv.Itoa(v.Starts), outcome)
		row.Failed = v.Mean == nil
		c.Rows = append(c.Rows, row)
	}
	return c
}

// versionOutcome says on which side of the change a version lies; "": it was not
// started.
func versionOutcome(o bisect.Outcome, i int) string {
	switch why := o.Skipped[i]; {
	case why != "":
		class, _, _ := strings.Cut(why, ":") // the report's failures have the rest
		return "skipped: " + text.Clean(class)
	case i == o.Failed:
		return "failed"
	case o.Versions[i].Starts == 0:
		return ""
	case o.Change == 0:
		return "cannot tell"
	case i == o.Mid:
		return "cannot tell: neither as before nor as after"
	case i <= o.Lo:
		return "before the change"
	}
	return "after the change"
}

// BisectLines say what a search over versions came to, the most important first.
func BisectLines(run *results.Run, o bisect.Outcome) []string {
	policy, lo, hi := run.Manifest.Bisect, text.Clean(o.Versions[o.Lo].Name), text.Clean(o.Versions[o.Hi].Name)
	between := ""
	if d := o.Difference; d != nil {
		between = fmt.Sprintf(": %s (interval %s)", versus.ChangeText(d.Delta), versus.IntervalText(*d))
	}

	switch {
	case o.Failed >= 0:
		return []string{fmt.Sprintf("Nothing was searched: %s gave no figure. Name another version under bisect.from "+
			"or bisect.to.", text.Clean(o.Versions[o.Failed].Name))}
	case o.Stage == bisect.Over && o.Change == 0:
		return []string{fmt.Sprintf("Cannot tell whether %s changed between %s and %s%s over %s of each.",
			policy.Figure, lo, hi, between, text.Count(o.Versions[o.Lo].Starts, "start"))}
	case o.Stage == bisect.Over && o.Mid >= 0:
		return []string{fmt.Sprintf("%s changed between %s and %s%s. Cannot tell on which side %s lies: it may have "+
			"changed in several steps, or the noise is too large.", policy.Figure, lo, hi, between,
			text.Clean(o.Versions[o.Mid].Name))}
	case o.Stage != bisect.Over:
		return []string{fmt.Sprintf("The search is not over: a change of %s, if any, lies between %s and %s%s.",
			policy.Figure, lo, hi, between)}
	}

	return slices.Concat([]string{foundLine(policy, o, lo, hi)}, skippedLines(o))
}

// foundLine says between which versions the figure changed, and whether further
// starts confirm it.
func foundLine(policy *results.BisectPolicy, o bisect.Outcome, lo, hi string) string {
	line := fmt.Sprintf("%s changed between %s and %s", policy.Figure, lo, hi)
	d := o.Difference
	if d == nil {
		return line + ". It is not confirmed: the rounds for that have no figures."
	}
	word := "Confirmed"
	if d.Verdict != compare.Better && d.Verdict != compare.Worse {
		word = "Not confirmed"
	}
	return fmt.Sprintf("%s. %s on %s of each that no choice used: %s (interval %s): %s.", line, word,
		text.Count(d.Candidate.N, "further start"), versus.ChangeText(d.Delta), versus.IntervalText(*d),
		versus.VerdictText(*d))
}

// skippedLines name the versions between the two that gave no figure.
func skippedLines(o bisect.Outcome) []string {
	var lines []string
	for _, i := range slices.Sorted(maps.Keys(o.Skipped)) {
		if i > o.Lo && i < o.Hi {
			lines = append(lines, fmt.Sprintf("%s lies between them and was skipped: %s.",
				text.Clean(o.Versions[i].Name), text.Clean(o.Skipped[i])))
		}
	}
	return lines
}
