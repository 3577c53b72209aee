package versus

import (
	"math"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Contest is one point: the variant that is ahead, beside each of the others.
type Contest struct {
	Point  string
	Best   compare.Cell
	Mean   float64
	Others []Rival // the nearest first

	// Unranked is the variant with the best mean here if that is not among the
	// above: its repeats are suspect. It keeps the point without a winner.
	Unranked *Rival
}

// Rival is a variant behind the best. Its difference is that of the best
// against it.
type Rival struct {
	Cell compare.Cell
	Mean float64
	Diff compare.Difference
}

// StandingFigure is the figure that decides; false: no step has it.
func StandingFigure(run *results.Run) (catalog.Figure, bool) {
	steps := run.Results()
	figures := catalog.FiguresOf(steps)
	want := []string{"output_throughput", "total_token_throughput"} // the latter of answers without tokens
	if rated(steps) {
		want = []string{"median_e2el_s", "output_throughput"}
	}

	for _, name := range want {
		at := slices.IndexFunc(figures, func(f catalog.Figure) bool { return f.Name == name })
		if at >= 0 && slices.ContainsFunc(steps, func(r *results.Result) bool { return figures[at].Of(r) != nil }) {
			return figures[at], true
		}
	}

	if slices.ContainsFunc(steps, (*results.Result).OfProgram) {
		return firstTest(steps, figures), true
	}

	return catalog.Figure{}, false
}

// firstTest is the first test of llama-bench. Where a single variant has it, under
// several settings, it is that of the settings with the most tokens per second.
func firstTest(steps []*results.Result, figures []catalog.Figure) catalog.Figure {
	var variants []string
	for _, r := range steps {
		variants = text.AppendNew(variants, r.Step.Variant)
	}
	if len(variants) > 1 {
		return figures[0]
	}

	best, most := figures[0], math.Inf(-1)
	for _, f := range figures {
		for _, r := range steps {
			if v := f.Of(r); f.Test == figures[0].Test && v != nil && *v > most {
				best, most = f, *v
			}
		}
	}

	return best
}

// OtherTests reports whether a variant besides the given one has valid results of
// llama-bench.
func OtherTests(run *results.Run, variant string) bool {
	return slices.ContainsFunc(run.Results(), func(r *results.Result) bool {
		return r.Step.Variant != variant && r.Verdict == results.OK && len(r.LlamaBench) > 0
	})
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

// Contests are the load points of a run at which a variant has valid figures.
func Contests(run *results.Run, figure catalog.Figure) []Contest {
	all := contestable(run, figure)
	suspect := func(c compare.Cell) bool { return c.Counted[0].Verdict != results.OK }
	contests := contestsOf(slices.DeleteFunc(slices.Clone(all), suspect), figure)

	for _, c := range all {
		if !suspect(c) {
			continue
		}
		at := slices.IndexFunc(contests, func(k Contest) bool { return k.Point == c.Point })
		if at >= 0 {
			contests[at].lead(Rival{Cell: c, Mean: metrics.Mean(c.PerLife(figure.Of))}, figure)
		}
	}

	return contests
}

// lead notes a variant that is not ranked if its mean is the best here.
func (c *Contest) lead(r Rival, figure catalog.Figure) {
	best := c.Mean
	if c.Unranked != nil {
		best = c.Unranked.Mean
	}
	if figure.Compare(r.Mean, best) < 0 {
		c.Unranked = &r
	}
}

// contestable are the cells that have the figure, measured as it stands; only
// simulated ones where none is real.
func contestable(run *results.Run, figure catalog.Figure) []compare.Cell {
	cells := slices.DeleteFunc(compare.CellsOf(run.Manifest, InOrder(run)), func(c compare.Cell) bool {
		return len(c.Counted) == 0 || c.Again || len(c.PerLife(figure.Of)) == 0 || c.Extrapolated() != nil
	})
	if slices.ContainsFunc(cells, func(c compare.Cell) bool { return !c.IsSimulated() }) {
		cells = slices.DeleteFunc(cells, compare.Cell.IsSimulated)
	}

	return cells
}

// contestsOf groups cells by load point.
func contestsOf(cells []compare.Cell, figure catalog.Figure) []Contest {
	var all []Contest
	for _, group := range compare.ByPoint(cells) {
		var entries []Rival
		for _, c := range group {
			entries = append(entries, Rival{Cell: c, Mean: metrics.Mean(c.PerLife(figure.Of))})
		}
		slices.SortStableFunc(entries, func(a, b Rival) int { return figure.Compare(a.Mean, b.Mean) })
		all = append(all, Contest{
			Point: group[0].Point, Best: entries[0].Cell, Mean: entries[0].Mean, Others: entries[1:],
		})
	}
	return all
}

// Judge compares the best of each point with the others there. All of that is
// one question, and is corrected as a whole.
func Judge(contests []Contest, figure catalog.Figure, rule compare.Rule) {
	rule.Rounds = 1 // the bootstrap's intervals are not shown
	var all []compare.Difference
	for _, c := range contests {
		for _, o := range c.Others {
			all = append(all, compare.DifferenceOf(figure, o.Cell, c.Best, rule))
		}
	}

	compare.Judge(all, rule)
	at := 0
	for i := range contests {
		for k := range contests[i].Others {
			contests[i].Others[k].Diff = all[at]
			at++
		}
	}
}

// Verdict is better if the best is established against every other variant,
// cannot tell if it is not against one, or if a variant that is not ranked has
// a better mean; "" without others.
func (c Contest) Verdict() compare.Verdict {
	if c.Unranked != nil && len(c.Others) > 0 {
		return compare.CannotTell
	}

	verdict := compare.Verdict("")
	for _, o := range c.Others {
		switch {
		case o.Diff.Verdict == compare.CannotTell || verdict == compare.CannotTell:
			verdict = compare.CannotTell
		case o.Diff.Verdict == compare.NoDifference || verdict == compare.NoDifference:
			verdict = compare.NoDifference
		default:
			verdict = o.Diff.Verdict
		}
	}

	return verdict
}

// Peak is the contest with the best figure of all, whose numbers stand for the
// others.
func Peak(contests []Contest, figure catalog.Figure) Contest {
	return slices.MinFunc(contests, func(a, b Contest) int { return figure.Compare(a.Mean, b.Mean) })
}

// RepeatsNeeded is the most that one of the open questions needs.
func (c Contest) RepeatsNeeded() int {
	most := 0
	for _, o := range c.Others {
		if o.Diff.Verdict == compare.CannotTell {
			most = max(most, o.Diff.MoreRepeats)
		}
	}
	return most
}
