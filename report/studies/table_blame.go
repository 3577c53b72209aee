package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/blame"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// BlameParts say which settings made the difference between two variants: none
// where the run does not ask.
func BlameParts(run *results.Run) []table.Piece {
	policy := run.Manifest.Blame
	if policy == nil {
		return nil
	}

	o := blame.Of(run, versus.RuleOf(run.Manifest))
	several := len(o.Points) > 1
	parts := []table.Piece{{Title: "Settings", Intro: blameIntro(run, o), Table: factorTable(policy)}}
	for _, p := range o.Points {
		parts = append(parts, table.Piece{
			Title: "Effects on " + policy.Figure + atPoint(p, several), Below: true,
			Table: effectTable(policy, p), Notes: effectNotes(p),
		})
		if len(p.Interactions) > 0 {
			parts = append(parts, table.Piece{
				Title: "Together" + atPoint(p, several), Below: true,
				Intro: []string{
					"By how much the change of two settings together differs from the product of their own.",
				},
				Table: interactionTable(policy, p),
			})
		}
	}
	parts[0].Notes = BlameLines(run, o)
	return parts
}

// atPoint names a load point where a run has several.
func atPoint(p blame.Point, several bool) string {
	if !several {
		return ""
	}
	return " at " + text.Clean(p.Label)
}

func blameIntro(run *results.Run, o blame.Outcome) []string {
	policy := run.Manifest.Blame
	lines := []string{fmt.Sprintf("%s and %s differ in %s. %s with a mixture of them were started in a random order, "+
		"%s of each; an effect is the mean over all mixtures.", text.Clean(policy.From), text.Clean(policy.To),
		text.Count(len(policy.Factors), "setting"), text.Count(len(run.Manifest.Variants), "variant"),
		text.Count(repeatsOf(run), "start"))}
	if o.Suspect {
		lines = append(lines, "Some variants have suspect steps only; these were used.")
	}
	return lines
}

func repeatsOf(run *results.Run) int {
	most := 0
	for _, s := range run.Manifest.Planned {
		most = max(most, s.Repeat)
	}
	return most
}

// factorTable names the factors by the letters in the names of variants.
func factorTable(policy *results.BlamePolicy) table.Table {
	c := table.Table{Columns: []table.Column{
		table.Words(""), table.Words("setting"), table.Words(text.Clean(policy.From)),
		table.Words(text.Clean(policy.To)),
	}, Keys: []int{0}}
	for _, f := range policy.Factors {
		for k, s := range f.Settings {
			letter, name := f.Letter, s.Path
			if k > 0 {
				letter = ""
			}
			if f.Name != s.Path {
				name = f.Name + ": " + s.Path
			}
			c.Rows = append(c.Rows, table.NewRow(letter, text.Clean(name), settingText(s.From), settingText(s.To)))
		}
	}
	return c
}

func settingText(value string) string {
	if value == "" {
		return table.Missing
	}
	return text.Clean(value)
}

func effectTable(policy *results.BlamePolicy, p blame.Point) table.Table {
	c := table.Table{Columns: []table.Column{
		table.Words(""), table.Words("setting"), table.Numbers("change", ""), table.Numbers("interval", "95 %"),
		table.Numbers("n", "starts"), table.Words("verdict"),
	}, Keys: []int{0, 1}}
	for i, e := range p.Effects {
		verdict := effectVerdict(e)
		if e.Aliases != nil {
			verdict += ", or " + termsText(policy, e.Aliases)
		}
		c.Rows = append(c.Rows, table.NewRow(policy.Factors[i].Letter, text.Clean(policy.Factors[i].Name),
			versus.ChangeText(e.Change), rangeText(e), fmt.Sprintf("%d/%d", e.Without, e.With), verdict))
	}
	c.Rows = append(c.Rows, table.NewRow("", "all together", versus.ChangeText(p.All.Change), rangeText(p.All),
		fmt.Sprint(p.Starts), effectVerdict(p.All)))
	return c
}

// interactionTable has a row for what two settings do together, with the others
// that would look the same.
func interactionTable(policy *results.BlamePolicy, p blame.Point) table.Table {
	c := table.Table{Columns: []table.Column{
		table.Words("settings"), table.Numbers("change", ""), table.Numbers("interval", "95 %"), table.Words("verdict"),
	}, Keys: []int{0}}
	for _, e := range p.Interactions {
		name := termsText(policy, append([][]int{e.Factors}, e.Aliases...))
		c.Rows = append(c.Rows, table.NewRow(name, versus.ChangeText(e.Change), rangeText(e), effectVerdict(e)))
	}
	return c
}

// termsText names interactions by the letters of their factors: "a*b or c*d".
func termsText(policy *results.BlamePolicy, terms [][]int) string {
	var names []string
	for _, term := range terms {
		var letters []string
		for _, i := range term {
			letters = append(letters, policy.Factors[i].Letter)
		}
		names = append(names, strings.Join(letters, "*"))
	}
	return strings.Join(names, " or ")
}

func rangeText(e blame.Effect) string {
	return versus.IntervalText(compare.Difference{Low: e.Low, High: e.High})
}

func effectVerdict(e blame.Effect) string {
	switch {
	case e.Verdict != compare.CannotTell:
		return string(e.Verdict)
	case e.Change == nil:
		return "cannot tell: no variant with it, or none without it, has the figure"
	case e.Low == nil:
		return "cannot tell: no repeat shows the noise"
	case e.More >= compare.MaxRepeats:
		return "cannot tell: the spread is too wide"
	}
	return fmt.Sprintf("cannot tell: %s would narrow it enough", text.Count(e.More, "more repeat"))
}

func effectNotes(p blame.Point) []string {
	if p.Spread == nil {
		return nil
	}
	return []string{fmt.Sprintf("Starts of one variant differ by %.2g %% (standard deviation, %d degrees of freedom). "+
		"All intervals of the run hold together with 95 %% confidence. What three or more settings do together is "+
		"taken as noise.", 100**p.Spread, p.Freedom)}
}

// BlameLines say what made the difference, the most important first.
func BlameLines(run *results.Run, o blame.Outcome) []string {
	policy := run.Manifest.Blame
	var lines []string
	for _, p := range o.Points {
		lines = append(lines, pointLine(policy, p, len(o.Points) > 1))
	}
	if o.Never != nil {
		lines = append(lines, neverLine(policy, *o.Never))
	}
	if some := o.Failed - neverStarts(o); some > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s failed with variants that served in others.", some,
			text.Count(o.Starts, "server start")))
	}
	return lines
}

func neverStarts(o blame.Outcome) int {
	if o.Never == nil {
		return 0
	}
	return o.Never.Starts
}

// pointLine says which settings have an effect, the largest first.
func pointLine(policy *results.BlamePolicy, p blame.Point, several bool) string {
	called := slices.DeleteFunc(slices.Clone(p.Effects), func(e blame.Effect) bool {
		return e.Verdict != compare.Better && e.Verdict != compare.Worse
	})
	slices.SortStableFunc(called, func(a, b blame.Effect) int { return compareSize(b, a) })

	var made []string
	for _, e := range called {
		made = append(made, fmt.Sprintf("%s %s (interval %s)", text.Clean(policy.Factors[e.Factors[0]].Name),
			versus.ChangeText(e.Change), rangeText(e)))
	}
	open := len(slices.DeleteFunc(slices.Clone(p.Effects), func(e blame.Effect) bool {
		return e.Verdict != compare.CannotTell
	}))
	line := "Cannot tell which setting made a difference"
	switch {
	case len(made) > 0:
		line = "What made the difference: " + strings.Join(made, ", ")
	case open == 0:
		line = "No setting made a difference"
	}
	if line += atPoint(p, several); len(made) > 0 && open > 0 {
		line += fmt.Sprintf("; nothing can be said about %s", text.Count(open, "other setting"))
	}
	if p.All.Change != nil {
		line += fmt.Sprintf(". All together: %s (interval %s)", versus.ChangeText(p.All.Change), rangeText(p.All))
	}
	return line + "."
}

func compareSize(a, b blame.Effect) int {
	size := func(e blame.Effect) float64 { return max(*e.Change, -*e.Change) }
	switch {
	case size(a) < size(b):
		return -1
	case size(a) > size(b):
		return 1
	}
	return 0
}

// neverLine says with which settings no server gave a figure.
func neverLine(policy *results.BlamePolicy, f blame.Failure) string {
	if f.With == nil {
		return fmt.Sprintf("No start of %s succeeded, which no one or two settings explain: %s.", text.Few(f.Variants),
			text.Clean(f.Why))
	}

	var with []string
	for _, l := range f.With {
		factor := policy.Factors[l.Factor]
		value := factor.Settings[0].From
		if l.To {
			value = factor.Settings[0].To
		}

		switch {
		case len(factor.Settings) > 1 && l.To:
			with = append(with, factor.Name+" of "+policy.To)
		case len(factor.Settings) > 1:
			with = append(with, factor.Name+" of "+policy.From)
		case value == "":
			with = append(with, "no "+factor.Name)
		default:
			with = append(with, factor.Name+" "+value)
		}
	}

	return fmt.Sprintf("With %s no start succeeded (0 of %d), and every other variant that was tried succeeded at "+
		"least once: %s.", text.Clean(strings.Join(with, " and ")), f.Starts, text.Clean(f.Why))
}
