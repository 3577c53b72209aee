package studies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/tune"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// TuneParts are the recipe that a tuning found, its evidence and its command line:
// none where the run tunes nothing.
func TuneParts(run *results.Run) []table.Piece {
	policy := run.Manifest.Tune
	if policy == nil {
		return nil
	}

	o := tune.Of(run, versus.RuleOf(run.Manifest))
	parts := []table.Piece{{
		Title: "Tuning", Intro: tuneIntro(policy, len(run.Manifest.Variants)),
		Table: candidateTable(run, o), Notes: TuneLines(run, o),
	}}
	if o.Recipe != nil {
		if commands := commandsOf(run, o.Recipe.Variant); commands != "" {
			parts = append(parts, table.Piece{
				Title: "Recipe: " + text.Clean(o.Recipe.Variant), Below: true, Verbatim: commands,
			})
		}
	}
	return parts
}

func tuneIntro(policy *results.TunePolicy, variants int) []string {
	what := fmt.Sprintf("The variant with the best %s", policy.Figure)
	if len(policy.Targets) > 0 {
		what += " at which " + targetsText(policy.Targets)
	}
	drawn := ""
	if policy.Drawn > variants {
		drawn = fmt.Sprintf(", drawn from %d", policy.Drawn)
	}
	return []string{
		fmt.Sprintf("%s, among %d%s. Rounds measured at most %s variants, one server start each; then %s "+
			"compared the best one with the baseline.", what, variants, drawn,
			strings.Join(sizesText(policy.Sizes), ", "), text.Count(policy.Confirm, "round")),
		"A variant that was dropped on few starts may be as good as those that went on.",
	}
}

func sizesText(sizes []int) []string {
	texts := make([]string, len(sizes))
	for i, n := range sizes {
		texts[i] = strconv.Itoa(n)
	}
	return texts
}

// candidateTable has a row for each variant, the best first.
func candidateTable(run *results.Run, o tune.Outcome) table.Table {
	policy := run.Manifest.Tune
	c := table.Table{Columns: []table.Column{
		table.Words("variant"), table.Words("at"), table.Numbers(policy.Figure, "mean"),
		table.Numbers("targets met", "steps"), table.Numbers("n", "starts"), table.Words("outcome"),
	}, Keys: []int{0}}
	for i, one := range o.Candidates {
		met, at := table.Missing, table.Missing
		if one.Point != "" {
			met, at = fmt.Sprintf("%d/%d", one.Met, one.Met+one.Missed), text.Clean(one.Point)
		}
		row := table.NewRow(text.Clean(one.Variant), at, figureText(one.Value), met, strconv.Itoa(one.Rounds),
			candidateOutcome(o, i))
		row.Failed, row.Unranked = one.Failed != "", !one.Meets()
		c.Rows = append(c.Rows, row)
	}
	return c
}

func candidateOutcome(o tune.Outcome, i int) string {
	c := o.Candidates[i]
	outcome := "still in"
	switch {
	case c.Failed != "":
		class, _, _ := strings.Cut(c.Failed, ":") // the report's failures have the rest
		outcome = fmt.Sprintf("failed in round %d: %s", c.Dropped, text.Clean(class))
	case c.Dropped > 0 && !c.Meets():
		outcome = fmt.Sprintf("dropped after round %d: %s", c.Dropped, text.Clean(c.Why))
	case c.Dropped > 0:
		outcome = fmt.Sprintf("dropped after round %d", c.Dropped)
	case o.Recipe != nil && i == 0:
		outcome = "recipe"
	case o.Over > 0 && !c.Meets():
		outcome = "missed the targets"
	}
	if c.Suspect {
		outcome += ", suspect steps were used"
	}
	return outcome
}

// TuneLines say what a tuning came to, the most important first.
func TuneLines(run *results.Run, o tune.Outcome) []string {
	policy, baseline := run.Manifest.Tune, text.Clean(o.Baseline.Variant)
	switch {
	case o.Recipe == nil && o.Over >= len(policy.Sizes):
		return []string{"No recipe: no variant that was left met the targets."}
	case o.Recipe == nil:
		return []string{fmt.Sprintf("No recipe yet: the run ended after %d of %s.", o.Over,
			text.Count(len(policy.Sizes), "round"))}
	}

	name := text.Clean(o.Recipe.Variant)
	at := ""
	if severalPoints(run) {
		at = " at " + text.Clean(o.Recipe.Point)
	}
	best := fmt.Sprintf("The recipe is %s: %s %s%s over %s.", name, policy.Figure, figureText(o.Recipe.Value), at,
		text.Count(o.Recipe.Rounds, "start"))
	switch d := o.Confirmed; {
	case o.Recipe.Variant == o.Baseline.Variant:
		return []string{best, "It is the baseline: no other variant came out ahead of it."}
	case d == nil:
		return []string{best, "It is not confirmed: no round has compared it with the baseline."}
	default:
		return slices.Concat([]string{best}, confirmLines(o, baseline))
	}
}

// severalPoints reports whether a run has several load points.
func severalPoints(run *results.Run) bool {
	planned := run.Manifest.Planned
	return slices.ContainsFunc(planned, func(s results.StepRef) bool { return s.Point != planned[0].Point })
}

// confirmLines set the recipe beside the baseline.
func confirmLines(o tune.Outcome, baseline string) []string {
	d := o.Confirmed
	lines := []string{fmt.Sprintf("Confirmed on %s that no choice used: %s against %s (interval %s): %s.",
		text.Count(d.Candidate.N, "further start"), versus.ChangeText(d.Delta), baseline, versus.IntervalText(*d),
		versus.VerdictText(*d))}
	if d.Verdict != compare.Better {
		lines[0] = "Not confirmed" + lines[0][len("Confirmed"):]
	}
	if !o.Baseline.Meets() {
		lines = append(lines, fmt.Sprintf("%s itself missed the targets at every load point.", baseline))
	}
	if o.Again.Missed > 0 {
		lines = append(lines, fmt.Sprintf("In these starts the recipe missed the targets in %d of %s: they are near "+
			"its limit.", o.Again.Missed, text.Count(o.Again.Met+o.Again.Missed, "step")))
	}
	return lines
}

// commandsOf are the command lines of a variant's servers; "": none is known.
func commandsOf(run *results.Run, variant string) string {
	var lines strings.Builder
	for _, s := range run.Steps {
		if s.Result.Step.Variant != variant || len(s.Result.Servers) == 0 {
			continue
		}
		for _, c := range detail.CommandsOf(s.Result) {
			lines.WriteString(c.Text + "\n")
		}
		break
	}
	return lines.String()
}
