package versus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// CompareOptions say how runs are compared.
type CompareOptions struct {
	Baseline string   // name or path of the side that the others are compared to; "": the first
	Figures  []string // names as in summary.csv; nil: the usual ones
	Margin   float64  // smallest relative difference of interest; 0: that of the baseline's scenario
	Rounds   int      // of the bootstrap; 0: the usual number
	Match    []Match  // variants that are compared although their names differ

	// Conditions that will be checked: their figures are compared, too.
	Conditions []Condition
}

// Match says that a variant of the baseline and one of another run stand for the
// same.
type Match struct{ Base, With string }

// ParseMatches reads pairs such as "tp8=tp8-new": a variant of the baseline, and one of
// the others.
func ParseMatches(texts []string) ([]Match, error) {
	var all []Match
	for _, text := range texts {
		base, with, _ := strings.Cut(text, "=")
		if base == "" || with == "" {
			return nil, fmt.Errorf("match %q: want A=B, a variant of the baseline and one of the other run", text)
		}
		all = append(all, Match{base, with})
	}
	return all, nil
}

// Comparison sets sides beside a baseline.
type Comparison struct {
	Sides    []Side
	Baseline int // index of it
	Rule     compare.Rule
	Others   []Against // one per side but the baseline

	Figures []catalog.Figure // that anything is known of
	judged  []catalog.Figure
	match   []Match
}

// Against is one side beside the baseline.
type Against struct {
	Side   int
	Delta  []Delta // what differs in configuration
	Things int     // how many things that is
	Pairs  []Pair
	Notes  []string // about matching

	Unknown []string // what neither side states
}

// Compare matches the variants and points of runs and compares every figure.
// The server life is the unit, as within a run.
func Compare(sides []Side, o CompareOptions) (*Comparison, error) {
	if len(sides) < 2 {
		return nil, errors.New("compare: give at least two runs")
	}

	c := &Comparison{Sides: sides, match: o.Match}
	if o.Baseline != "" {
		c.Baseline = slices.IndexFunc(sides, func(s Side) bool { return o.Baseline == s.Name || o.Baseline == s.Path })
		if c.Baseline < 0 {
			return nil, fmt.Errorf("compare: baseline %q: want one of the runs %s", o.Baseline,
				strings.Join(SideNames(sides), ", "))
		}
	}

	c.Rule = RuleOf(sides[c.Baseline].Run.Manifest)
	c.Rule.Rounds = o.Rounds
	if o.Margin > 0 {
		c.Rule.Margin = o.Margin
	}

	var named []string
	for _, condition := range o.Conditions {
		named = append(named, condition.Figure)
	}
	figures := o.Figures
	if figures != nil {
		figures = slices.Concat(figures, named)
	}
	var err error
	if c.Figures, c.judged, err = FiguresOf(sides, figures, named...); err != nil {
		return nil, err
	}

	if err := c.checkMatches(); err != nil {
		return nil, err
	}

	for i := range sides {
		if i != c.Baseline {
			c.Others = append(c.Others, c.versus(i))
		}
	}

	return c, nil
}

// checkMatches refuses a match of a variant that the baseline or all other runs
// lack.
func (c *Comparison) checkMatches() error {
	variantsOf := func(s Side) []string { return cellVariants(compare.CellsOf(s.Run.Manifest, InOrder(s.Run))) }
	baseline := variantsOf(c.Sides[c.Baseline])
	var others []string
	for i, s := range c.Sides {
		if i != c.Baseline && len(c.match) > 0 {
			others = append(others, variantsOf(s)...)
		}
	}

	for _, m := range c.match {
		switch {
		case !slices.Contains(baseline, m.Base):
			return fmt.Errorf("compare: match %q: the baseline has no variant %s, want one of %s", m.Base+"="+m.With,
				m.Base, text.Few(baseline))
		case !slices.Contains(others, m.With):
			return fmt.Errorf("compare: match %q: no other run has a variant %s, want one of %s", m.Base+"="+m.With,
				m.With, text.Few(others))
		}
	}

	return nil
}

// SideNames are the names of sides.
func SideNames(sides []Side) []string {
	var names []string
	for _, s := range sides {
		names = append(names, s.Name)
	}
	return names
}

// FiguresOf are all figures of the sides and those that are asked for, and of parts
// of their loads as many as are named.
func FiguresOf(sides []Side, names []string, more ...string) (all, judged []catalog.Figure, err error) {
	var steps []*results.Result
	for _, s := range sides {
		steps = append(steps, s.Run.Results()...)
	}

	parts := partFigures(steps, slices.Concat(names, more))
	all = append(catalog.FiguresOf(steps), parts...)
	if names == nil {
		return all, append(DefaultFigures(steps), parts...), nil
	}

	for _, name := range names {
		at := slices.IndexFunc(all, func(f catalog.Figure) bool { return f.Name == catalog.NameOf(name) })
		if at < 0 {
			return nil, nil, fmt.Errorf("figure %q: want one of %s", name, strings.Join(figureNames(all), ", "))
		}
		judged = append(judged, all[at])
	}

	return all, judged, nil
}

// partFigures are those among names that are figures of a part of a load which a
// step has.
func partFigures(steps []*results.Result, names []string) (all []catalog.Figure) {
	for _, name := range names {
		f, err := catalog.Find(catalog.NameOf(name))
		known := func(r *results.Result) bool { return f.Of(r) != nil }
		if err != nil || !strings.Contains(name, "@") || !slices.ContainsFunc(steps, known) ||
			slices.ContainsFunc(all, func(a catalog.Figure) bool { return a.Name == f.Name }) {
			continue
		}
		all = append(all, f)
	}
	return all
}

func figureNames(figures []catalog.Figure) []string {
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
	}
	return names
}

// versus compares one side with the baseline.
func (c *Comparison) versus(at int) Against {
	base, with := c.Sides[c.Baseline].Run, c.Sides[at].Run
	v := Against{Side: at, Delta: runChanges(base, with)}
	baseCells := compare.CellsOf(base.Manifest, InOrder(base))
	cells := compare.CellsOf(with.Manifest, InOrder(with))
	matches, notes := matchCells(baseCells, cells, c.match)
	v.Notes = notes
	switch {
	case sameRun(base, with):
		v.Notes = append(v.Notes, "both sides are the same run: what follows compares it with itself")
	case sameFiles(base, with):
		v.Notes = append(v.Notes, "both sides were imported from the same files: what follows compares them with "+
			"themselves")
	}
	for _, m := range matches {
		changes := cellChanges(m.base, m.with)
		v.Delta = gather(v.Delta, m.with.Variant, changes)
		for _, name := range unknownOnBoth(base, with, anyStep(m.base), anyStep(m.with)) {
			v.Unknown = text.AppendNew(v.Unknown, name)
		}
		ours, theirs, readings := sameReading(m.base, m.with)
		s := contrast(ours, theirs, c.judged, c.Rule)
		s.Notes = append(s.Notes, readings...)
		s.Point = PointName(m.base, m.with)
		s.Differ = changes
		if s.NotCompared == "" {
			s.NotCompared = settingsDiffer(m.base, m.with)
		}
		if s.NotCompared != "" {
			s.Differences, s.Outliers, s.Drifts = nil, nil, nil
		}
		s.comparePrices(c.judged)
		v.Pairs = append(v.Pairs, s)
	}

	v.Things = things(v.Delta)

	return v
}

// sameRun reports whether two folders hold one run: a run beside itself shows no
// difference, whatever its spread.
func sameRun(a, b *results.Run) bool {
	x, y := a.Manifest, b.Manifest
	return x.Run == y.Run && x.Run != "" && x.Scenario == y.Scenario && x.StartedAt == y.StartedAt &&
		x.PlanSHA256 == y.PlanSHA256
}

// sameFiles reports whether two runs were imported from equal files.
func sameFiles(a, b *results.Run) bool {
	sums := func(r *results.Run) []string {
		var all []string
		if r.Manifest.Imported != nil {
			for _, f := range r.Manifest.Imported.Files {
				all = append(all, f.SHA256)
			}
		}
		slices.Sort(all)
		return all
	}
	return sums(a) != nil && slices.Equal(sums(a), sums(b))
}

// settingsDiffer says why two cells of different runs measure different
// things; "": they do not.
func settingsDiffer(base, with compare.Cell) string {
	b, w := anyStep(base), anyStep(with)
	if b == nil || w == nil {
		return ""
	}
	var reasons []string
	for _, c := range loadChanges(b, w) {
		if c.What != "load warmups" && c.What != "load endpoint" && c.From != NotKnown && c.To != NotKnown {
			reasons = append(reasons, c.String())
		}
	}
	if why := promptsDiffer(base, with); why != "" {
		reasons = append(reasons, why)
	}
	return strings.Join(reasons, "; ")
}

// matched are two cells of two runs that stand for the same.
type matched struct{ base, with compare.Cell }

// PointName is the load point of two cells, or both where they differ.
func PointName(base, with compare.Cell) string {
	if base.Point == with.Point {
		return with.Point
	}

	return base.Point + " and " + with.Point
}

// matchCells pairs variants, and then their points by label. The notes say
// what has no partner.
func matchCells(base, with []compare.Cell, wanted []Match) (pairs []matched, notes []string) {
	partners, notes := partnersOf(base, with, wanted)
	for _, w := range with {
		partner, ok := partners[w.Variant]
		if !ok {
			continue
		}
		at := slices.IndexFunc(base, func(b compare.Cell) bool {
			return b.Variant == partner && looseName(b.Point) == looseName(w.Point)
		})
		if at < 0 && pointsOf(base, partner) == 1 && pointsOf(with, w.Variant) == 1 {
			at = slices.IndexFunc(base, func(b compare.Cell) bool { return b.Variant == partner })
		}
		if at < 0 {
			notes = append(notes, fmt.Sprintf("load point %s of %s: the baseline has no such load point",
				text.Clean(w.Point), text.Clean(w.Variant)))
			continue
		}
		pairs = append(pairs, matched{base[at], w})
	}

	for _, b := range base {
		if !slices.ContainsFunc(pairs,
			func(m matched) bool { return m.base.Variant == b.Variant && m.base.Point == b.Point }) {
			notes = append(notes, fmt.Sprintf("%s at %s of the baseline has no counterpart", text.Clean(b.Variant),
				text.Clean(b.Point)))
		}
	}

	return pairs, notes
}

func pointsOf(cells []compare.Cell, variant string) int {
	n := 0
	for _, c := range cells {
		if c.Variant == variant {
			n++
		}
	}
	return n
}

// partnersOf pairs variants: as wanted, then by name, by a name that is spelled
// otherwise, by equal configuration, and then the one that is left on either
// side.
func partnersOf(base, with []compare.Cell, wanted []Match) (partners map[string]string, notes []string) {
	partners = make(map[string]string)
	baseNames, names := cellVariants(base), cellVariants(with)
	taken := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return partners[n] == name })
	}

	for _, m := range wanted {
		if slices.Contains(names, m.With) && slices.Contains(baseNames, m.Base) {
			partners[m.With] = m.Base
		}
	}

	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return looseName(a) == looseName(b) },
	} {
		for _, name := range names {
			at := slices.IndexFunc(baseNames, func(other string) bool { return same(name, other) && !taken(other) })
			if partners[name] == "" && at >= 0 {
				partners[name] = baseNames[at]
			}
		}
	}

	for _, name := range names {
		for _, other := range baseNames {
			if partners[name] == "" && !taken(other) && sameRecipe(base, other, with, name) {
				partners[name] = other
				notes = append(notes, fmt.Sprintf("%s is matched with the baseline's %s: same configuration",
					text.Clean(name), text.Clean(other)))
			}
		}
	}

	left := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return partners[n] != "" })
	baseLeft := slices.DeleteFunc(slices.Clone(baseNames), taken)
	switch {
	case len(left) == 1 && len(baseLeft) == 1:
		partners[left[0]] = baseLeft[0]
		notes = append(notes, fmt.Sprintf("%s is matched with the baseline's %s: the only ones left",
			text.Clean(left[0]), text.Clean(baseLeft[0])))
	default:
		for _, name := range left {
			notes = append(notes, text.Clean(name)+" has no counterpart in the baseline")
		}
	}

	return partners, notes
}

// looseName is a name without what people spell in several ways: capitals,
// blanks, hyphens and other marks ("tp2 pp4" and "TP2-PP4").
func looseName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

func cellVariants(cells []compare.Cell) []string {
	var names []string
	for _, c := range cells {
		names = text.AppendNew(names, c.Variant)
	}
	return names
}

func sameRecipe(base []compare.Cell, baseName string, with []compare.Cell, name string) bool {
	b := slices.IndexFunc(base, func(c compare.Cell) bool { return c.Variant == baseName && WithServers(c) != nil })
	w := slices.IndexFunc(with, func(c compare.Cell) bool { return c.Variant == name && WithServers(c) != nil })
	return b >= 0 && w >= 0 && len(RecipeChanges(base[b], with[w])) == 0 &&
		len(WithServers(with[w]).Servers[0].Argv) > 0
}

// ManyThings warns that a difference has more than one possible cause.
func (v *Against) ManyThings() string {
	return fmt.Sprintf("%d differences (%s): no change below can be attributed to one of them.", v.Things,
		strings.Join(text.CleanAll(namesOf(v.Delta)), ", "))
}

// OneSided are the facts that one side does not state, each once.
func (v *Against) OneSided() []string {
	var names []string
	for _, d := range v.Delta {
		if d.From == NotKnown || d.To == NotKnown {
			names = text.AppendNew(names, text.Clean(d.What))
		}
	}

	return names
}

// Strict is an error if more than one thing differs between a side and the
// baseline.
func (c *Comparison) Strict() error {
	for _, v := range c.Others {
		if v.Things > 1 {
			return fmt.Errorf("compare %s with %s: %s", c.Sides[v.Side].Name, c.Sides[c.Baseline].Name, v.ManyThings())
		}
	}
	return nil
}
