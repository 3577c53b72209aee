package versus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Pair is a candidate beside the baseline at one point, with what readers must
// know of it.
type Pair struct {
	compare.Pair
	NotCompared string   // why the two are not compared; "": they are
	Failed      []string // sides without figures, in their own words
	Notes       []string
	Differ      []Change // of the recipes
}

// RuleOf is the rule of a run's scenario.
func RuleOf(m results.Manifest) compare.Rule {
	rule := compare.DefaultRule()
	if m.SmallestDifference != nil && *m.SmallestDifference > 0 {
		rule.Margin = *m.SmallestDifference
	}
	return rule
}

// BaselineOf is the variant that the others of a run are compared to; "" where
// it has none.
func BaselineOf(run *results.Run) string {
	names := VariantsOf(run)
	if slices.Contains(names, run.Manifest.Baseline) {
		return run.Manifest.Baseline
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// VariantsOf are the variants of a run in the order of its scenario.
func VariantsOf(run *results.Run) []string {
	names := slices.Clone(run.Manifest.Variants)
	for _, s := range run.Steps {
		names = text.AppendNew(names, s.Result.Step.Variant)
	}
	return names
}

// InOrder orders the steps of a run by when each was last begun.
func InOrder(run *results.Run) []*results.Result {
	began := make(map[string]int)
	for i, e := range run.Events {
		if e.Kind == results.StepStarted {
			began[e.Step] = i + 1
		}
	}
	steps := run.Results()
	slices.SortStableFunc(steps, func(a, b *results.Result) int {
		return cmp.Compare(began[a.Step.ID], began[b.Step.ID])
	})
	return steps
}

// driftAlpha is the rate of false alarms of the test for drift.
const driftAlpha = 0.05

// Differences compares every variant of a run with its baseline, point by
// point; none where there is one variant or no repeat.
func Differences(run *results.Run) []Pair { return DifferencesBy(run, 0) }

// DifferencesBy is differences with so many rounds of the bootstrap; 0: the
// usual number. The figure that decides has the verdict that Contests come to,
// where the pair is one of theirs.
func DifferencesBy(run *results.Run, rounds int) []Pair {
	cells := compare.CellsOf(run.Manifest, InOrder(run))
	if !AnyRepeats(cells) {
		return nil
	}

	figures, rule := DefaultFigures(run.Results()), RuleOf(run.Manifest)
	rule.Rounds = rounds
	var all []Pair
	for _, candidate := range cells {
		if candidate.Variant == BaselineOf(run) {
			continue
		}
		at := slices.IndexFunc(cells, func(c compare.Cell) bool {
			return c.Point == candidate.Point && c.Variant == BaselineOf(run)
		})
		if at < 0 {
			continue
		}
		s := contrast(cells[at], candidate, figures, rule)
		s.Differ = RecipeChanges(cells[at], candidate)
		if why := promptsDiffer(cells[at], candidate); why != "" {
			s.Notes = append(s.Notes, why)
		}
		all = append(all, s)
	}

	agreeWithContests(run, all, rule)

	return all
}

// agreeWithContests gives the figure that decides the same verdict here as
// above the report: it is one question, corrected once.
func agreeWithContests(run *results.Run, pairs []Pair, rule compare.Rule) {
	figure, ok := StandingFigure(run)
	if !ok {
		return
	}

	contests := Contests(run, figure)
	Judge(contests, figure, rule)
	for i := range pairs {
		if judged, ok := judgedBy(contests, &pairs[i]); ok {
			pairs[i].Settle(judged)
		}
	}
}

// judgedBy is the difference of a pair's candidate from its baseline as the
// contests have judged it; false: none compares the two.
func judgedBy(contests []Contest, p *Pair) (d compare.Difference, ok bool) {
	base, with := p.Baseline.Variant, p.Candidate.Variant
	for _, c := range contests {
		for _, o := range c.Others {
			switch {
			case c.Point != p.Point:
			case c.Best.Variant == with && o.Cell.Variant == base:
				return o.Diff, true
			case c.Best.Variant == base && o.Cell.Variant == with:
				d = o.Diff
				d.Verdict = d.Verdict.Reversed()
				return d, true
			}
		}
	}

	return d, false
}

// RecipeChanges lists how the servers of two cells were started differently.
func RecipeChanges(baseline, candidate compare.Cell) []Change {
	b, c := WithServers(baseline), WithServers(candidate)
	if b == nil || c == nil {
		return nil
	}
	if changes, unknown := unknownRecipe(b, c); unknown {
		return changes
	}
	return RecipeOf(b).Changes(RecipeOf(c))
}

// RecipesText says in words how the servers of a cell were started differently
// from the baseline's. What is not known of either is never "the same".
func RecipesText(baseline, candidate compare.Cell) string {
	if changes := RecipeChanges(baseline, candidate); len(changes) > 0 {
		return ChangesText(changes)
	}
	b, c := WithServers(baseline), WithServers(candidate)
	if b == nil || c == nil || recipeUnknown(b) || recipeUnknown(c) {
		return "arguments and environment are not known"
	}
	return ChangesText(nil)
}

// WithServers is a step of the cell that says how its server was started.
func WithServers(c compare.Cell) *results.Result {
	for _, r := range slices.Concat(c.Counted, c.Steps) {
		if len(r.Servers) > 0 {
			return r
		}
	}
	return nil
}

// DefaultFigures are the figures that are compared unless others are asked for.
func DefaultFigures(steps []*results.Result) []catalog.Figure {
	return slices.DeleteFunc(catalog.FiguresOf(steps), func(f catalog.Figure) bool { return f.Extra })
}

// contrast compares two cells, or says why not.
func contrast(baseline, candidate compare.Cell, figures []catalog.Figure, rule compare.Rule) Pair {
	s := Pair{
		NotCompared: kindDiffers(baseline, candidate),
		Pair:        compare.Pair{Point: candidate.Point, Baseline: baseline, Candidate: candidate},
	}
	for _, c := range []compare.Cell{baseline, candidate} {
		if len(c.Counted) == 0 {
			s.Failed = append(s.Failed, fmt.Sprintf("%s has no figures: %s", text.Clean(c.Variant),
				strings.Join(Uncounted(c), "; ")))
		}
	}

	if s.NotCompared != "" || len(s.Failed) > 0 {
		return s
	}

	s.Pair = compare.PairOf(baseline, candidate, figures, rule)
	s.Remarks(figures, driftAlpha)
	s.Notes = append(sideNotes(baseline), sideNotes(candidate)...)
	if compare.OnOtherNodes(baseline, candidate) {
		s.Notes = append(s.Notes, fmt.Sprintf("%s ran on %s and %s on %s: a difference may be that of the nodes",
			text.Clean(baseline.Variant), strings.Join(text.CleanAll(compare.NodesOf(baseline)), ", "),
			text.Clean(candidate.Variant), strings.Join(text.CleanAll(compare.NodesOf(candidate)), ", ")))
	}

	return s
}
