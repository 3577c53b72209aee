package differences

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
)

// verdictLines say in a sentence for each side what changed against the
// baseline in the figure that decides, and where other figures are worse.
func verdictLines(c *versus.Comparison) []string {
	figure, ok := decidingFigure(c)
	var lines []string
	for _, v := range c.Others {
		line := fmt.Sprintf("%s against %s: ", c.Sides[v.Side].Name, c.Sides[c.Baseline].Name)
		switch n := len(v.Pairs); {
		case n == 0:
			line += "no variant and load point match."
		case !ok:
			line += whyNothingCompared(v.Pairs)
		default:
			line += figure.Title + " " + tallyText(v.Pairs, figure, c.Rule) + "."
			if n := suspectPairs(v.Pairs); n > 0 {
				line += fmt.Sprintf(" %s used suspect repeats.", text.Count(n, "comparison"))
			}
			if worse := worseOthers(v.Pairs, c.Figures, figure); len(worse) > 0 {
				line += " Also worse: " + text.Few(worse) + "."
			}
		}
		lines = append(lines, line)
	}

	return lines
}

// whyNothingCompared says why no pair has a figure of both sides.
func whyNothingCompared(pairs []versus.Pair) string {
	var reasons []string
	for _, p := range pairs {
		if p.NotCompared != "" {
			reasons = text.AppendNew(reasons, p.NotCompared)
		}
	}
	if len(reasons) == 0 {
		return "the two sides have no figure in common."
	}
	return "not comparable: " + text.Few(reasons) + "."
}

// decidingFigure is the figure that decides the baseline's own verdict, or the
// first of those that were asked for.
func decidingFigure(c *versus.Comparison) (catalog.Figure, bool) {
	var judged []string
	for _, v := range c.Others {
		for _, p := range v.Pairs {
			for _, d := range p.Differences {
				judged = text.AppendNew(judged, d.Figure)
			}
		}
	}

	figure, ok := versus.StandingFigure(c.Sides[c.Baseline].Run)
	switch {
	case len(judged) == 0:
		return figure, false
	case ok && slices.Contains(judged, figure.Name):
		return figure, true
	}

	return catalog.Among(c.Figures, judged[0]), true
}

// tallyText is "is better in 2 of 4 comparisons (most: tp8, c16, +5.20 %, ...), worse in 1
// (...), and cannot be told in 1".
func tallyText(pairs []versus.Pair, figure catalog.Figure, rule compare.Rule) string {
	by := map[compare.Verdict][]versus.Pair{}
	compared := 0
	for _, p := range pairs {
		if d := differenceOf(p, figure); d != nil {
			compared++
			by[d.Verdict] = append(by[d.Verdict], p)
		}
	}
	if compared == 0 {
		return fmt.Sprintf("could not be compared in any of %s", text.Count(len(pairs), "pair"))
	}

	var parts []string
	for _, kind := range []struct {
		verdict compare.Verdict
		words   string
	}{
		{compare.Better, "better"},
		{compare.Worse, "worse"},
		{compare.NoDifference, "no different"},
		{compare.CannotTell, "undecided"},
	} {
		found := by[kind.verdict]
		if len(found) == 0 {
			continue
		}
		part := fmt.Sprintf("%s in %d", kind.words, len(found))
		if len(parts) == 0 {
			part += fmt.Sprintf(" of %s", text.Count(compared, "comparison"))
		}
		if kind.verdict == compare.Better || kind.verdict == compare.Worse {
			part += " (" + largest(found, figure, rule) + ")"
		}
		parts = append(parts, part)
	}
	if left := len(pairs) - compared; left > 0 {
		parts = append(parts, fmt.Sprintf("not compared in %d", left))
	}

	return "is " + strings.Join(parts, ", ")
}

// largest is the pair with the largest change: "tp8, c16: +5.20 %, 95 % interval +4.10 to +6.30 %".
func largest(pairs []versus.Pair, figure catalog.Figure, rule compare.Rule) string {
	p := slices.MaxFunc(pairs, func(a, b versus.Pair) int {
		x, y := math.Abs(*differenceOf(a, figure).Delta), math.Abs(*differenceOf(b, figure).Delta)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	d := differenceOf(p, figure)
	most := ""
	if len(pairs) > 1 {
		most = "most: "
	}

	return fmt.Sprintf("%s%s, %s: %s, %s %% interval %s", most, text.Clean(p.Candidate.Variant), text.Clean(p.Point),
		versus.ChangeText(d.Delta), table.Percent(rule.Confidence), versus.IntervalText(*d))
}

// suspectPairs counts the comparisons whose figures are those of suspect repeats.
func suspectPairs(pairs []versus.Pair) int {
	n := 0
	for _, p := range pairs {
		if len(p.Differences) > 0 && (isSuspect(p.Baseline) || isSuspect(p.Candidate)) {
			n++
		}
	}

	return n
}

// worseOthers are the other figures that are worse, each once.
func worseOthers(pairs []versus.Pair, figures []catalog.Figure, decides catalog.Figure) []string {
	var names []string
	for _, p := range pairs {
		for _, d := range p.Differences {
			if d.Verdict == compare.Worse && d.Figure != decides.Name {
				names = text.AppendNew(names, catalog.Among(figures, d.Figure).Title)
			}
		}
	}

	return names
}

func differenceOf(p versus.Pair, figure catalog.Figure) *compare.Difference {
	at := slices.IndexFunc(p.Differences, func(d compare.Difference) bool { return d.Figure == figure.Name })
	if at < 0 {
		return nil
	}

	return &p.Differences[at]
}
