package blame

import (
	"math"
	"slices"
	"sort"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Outcome is what a factorial came to.
type Outcome struct {
	Points  []Point
	Never   *Failure // variants whose servers never gave a figure; null: each did at least once
	Starts  int      // of servers that were tried
	Failed  int      // of these
	Suspect bool     // suspect steps were used
}

// Point are the effects on the figure at a load point.
type Point struct {
	Label        string
	Starts       int      // that have the figure
	Freedom      int      // degrees of freedom of the error
	Spread       *float64 // relative standard deviation between starts of one variant; null: not known
	Effects      []Effect // one of each factor, in their order
	Interactions []Effect
	All          Effect // of all factors together
}

// Effect is the relative change of a figure from the settings of From to those of
// To, 0.03 for 3 % more. Of two factors it is by how much the change of both
// differs from the product of their own changes.
type Effect struct {
	Factors []int   // none: all
	Aliases [][]int // interactions that would look the same

	Change    *float64 // null: the starts that served cannot tell
	Low, High *float64 // null: no start shows the noise
	Without   int      // starts with the settings of From that have the figure
	With      int      // likewise of To
	Verdict   compare.Verdict
	More      int // repeats that would make the interval narrower than the margin; 0: it is
}

// start is a server start that has the figure.
type start struct {
	levels []bool
	repeat int
	log    float64 // logarithm of the figure
}

// Of reads what the factorial of a run came to. The run has a policy of blame.
func Of(run *results.Run, rule compare.Rule) Outcome {
	policy := *run.Manifest.Blame
	var steps []*results.Result
	for _, s := range run.Steps {
		if s.State == results.StepDone && s.Result.Verdict != results.NotRun {
			steps = append(steps, s.Result)
		}
	}

	o := Outcome{}
	o.failures(policy, steps)
	models := map[string]*model{}
	tests := 0
	cells := compare.CellsOf(run.Manifest, steps)
	for _, label := range run.Manifest.Points {
		m := modelOf(len(policy.Factors), startsAt(policy, cells, label))
		models[label] = m
		tests += len(m.terms) + 1
	}

	f, err := catalog.Named(policy.Figure)
	for _, label := range run.Manifest.Points {
		o.Points = append(o.Points, models[label].point(label, rule, tests, err == nil && f.Higher))
	}
	for _, c := range cells {
		o.Suspect = o.Suspect || len(c.Counted) > 0 && c.Counted[0].Verdict == results.Suspect
	}
	return o
}

// startsAt are the starts that have the figure at a load point, above 0.
func startsAt(policy results.BlamePolicy, cells []compare.Cell, label string) []start {
	f, err := catalog.Named(policy.Figure)
	if err != nil {
		return nil
	}
	var starts []start
	for _, c := range cells {
		levels := policy.Levels[c.Variant]
		if c.Point != label || len(levels) != len(policy.Factors) {
			continue
		}
		for _, r := range c.Counted {
			if v := f.Of(r); v != nil && *v > 0 {
				starts = append(starts, start{levels, r.Step.Repeat, math.Log(*v)})
			}
		}
	}
	return starts
}

// model is the linear model of the logarithm of a figure: a level of each repeat,
// the effect of each factor, and the interactions of two factors that the starts
// tell apart.
type model struct {
	fit
	factors int
	starts  []start
	terms   [][]int         // effects in the model: one factor, or two
	first   int             // column of the model at which they begin
	alias   map[int][][]int // by term: others that would look the same
}

func modelOf(factors int, starts []start) *model {
	m := &model{factors: factors, starts: starts, alias: map[int][][]int{}}
	if len(starts) == 0 {
		return m
	}

	columns := repeatColumns(starts)
	repeats := len(columns)
	terms := termsOf(factors)
	for _, t := range terms {
		columns = append(columns, column(nil))
		for _, s := range starts {
			columns[len(columns)-1] = append(columns[len(columns)-1], s.sign(t))
		}
	}
	y := make([]float64, len(starts))
	for i, s := range starts {
		y[i] = s.log
	}

	m.fit = leastSquares(columns, y)
	m.first = slices.IndexFunc(m.in, func(c int) bool { return c >= repeats })
	if m.first < 0 {
		m.first = len(m.in)
	}
	for _, c := range m.in[m.first:] {
		m.terms = append(m.terms, terms[c-repeats])
	}
	for c := repeats; c < len(columns); c++ {
		for i, part := range m.aliases[c][min(m.first, len(m.aliases[c])):] {
			if math.Abs(part) > math.Sqrt(negligible) {
				m.alias[i] = append(m.alias[i], terms[c-repeats])
			}
		}
	}
	return m
}

// repeatColumns are a level for each repeat.
func repeatColumns(starts []start) []column {
	var repeats []int
	for _, s := range starts {
		if !slices.Contains(repeats, s.repeat) {
			repeats = append(repeats, s.repeat)
		}
	}
	slices.Sort(repeats)
	columns := make([]column, len(repeats))
	for i, r := range repeats {
		for _, s := range starts {
			in := 0.0
			if s.repeat == r {
				in = 1
			}
			columns[i] = append(columns[i], in)
		}
	}
	return columns
}

// termsOf are the factors one by one, then every two of them.
func termsOf(factors int) [][]int {
	var terms [][]int
	for a := range factors {
		terms = append(terms, []int{a})
	}
	for a := range factors {
		for b := a + 1; b < factors; b++ {
			terms = append(terms, []int{a, b})
		}
	}
	return terms
}

// sign is the product of the levels of some factors, -1 and 1.
func (s start) sign(term []int) float64 {
	product := 1.0
	for _, i := range term {
		if !s.levels[i] {
			product = -product
		}
	}
	return product
}

// point judges the effects at a load point. tests is how many effects the whole
// run judges: their intervals hold together at the rule's confidence.
func (m *model) point(label string, rule compare.Rule, tests int, higher bool) Point {
	p := Point{Label: label, Starts: len(m.starts), Freedom: max(0, m.freedom)}
	spread := 0.0
	if m.freedom > 0 {
		spread = max(compare.LeastSpread, math.Sqrt(m.residual/float64(m.freedom)))
		p.Spread = new(math.Expm1(spread))
	}
	judge := judge{rule, math.Pow(rule.Confidence, 1/float64(max(1, tests))), spread, higher}

	for i := range m.factors {
		p.Effects = append(p.Effects, Effect{Factors: []int{i}, Verdict: compare.CannotTell})
	}
	all := make([]float64, len(m.beta))
	known := 0
	for i, term := range m.terms {
		weights := make([]float64, len(m.beta))
		// from level -1 to 1; of two factors, the difference of two such changes
		weights[m.first+i] = float64(int(1) << len(term))
		e := judge.effect(m, weights)
		e.Factors, e.Aliases = term, m.alias[i]
		if len(term) == 1 {
			all[m.first+i], known = weights[m.first+i], known+1
			p.Effects[term[0]] = e
		} else {
			p.Interactions = append(p.Interactions, e)
		}
	}
	for i := range p.Effects {
		p.Effects[i].Without, p.Effects[i].With = m.count(i)
	}

	if p.All.Verdict = compare.CannotTell; known == m.factors && m.factors > 0 {
		p.All = judge.effect(m, all)
	}
	return p
}

// count is how many starts have the first level of a factor, and how many the second.
func (m *model) count(factor int) (without, with int) {
	for _, s := range m.starts {
		if s.levels[factor] {
			with++
		} else {
			without++
		}
	}
	return without, with
}

// judge gives effects their intervals and verdicts.
type judge struct {
	rule       compare.Rule
	confidence float64 // of each interval, so that all hold together
	spread     float64 // standard deviation of the logarithm between starts; 0: not known
	higher     bool    // is better
}

func (j judge) effect(m *model, weights []float64) Effect {
	value, se := m.estimate(weights)
	e := Effect{Change: new(math.Expm1(value)), Verdict: compare.CannotTell}
	if j.spread == 0 {
		return e
	}

	half := j.spread * se * compare.TQuantile(j.confidence, float64(m.freedom))
	e.Low, e.High = new(math.Expm1(value-half)), new(math.Expm1(value+half))
	switch margin := j.rule.Margin; {
	case *e.Low > 0 == j.higher && *e.Low**e.High > 0:
		e.Verdict = compare.Better
	case *e.Low**e.High > 0:
		e.Verdict = compare.Worse
	case *e.Low > -margin && *e.High < margin:
		e.Verdict = compare.NoDifference
	default:
		e.More = j.more(m, se)
	}
	return e
}

// more is how many further repeats would make half of an interval as narrow as the
// margin.
func (j judge) more(m *model, se float64) int {
	repeats := m.first
	perRepeat := float64(len(m.starts)) / float64(repeats)
	return 1 + sort.Search(compare.MaxRepeats-1, func(further int) bool {
		n := repeats + further + 1
		freedom := m.freedom + int(float64(further+1)*(perRepeat-1))
		half := se * math.Sqrt(float64(repeats)/float64(n)) * compare.TQuantile(j.confidence, float64(freedom))
		return j.spread*half <= math.Log1p(j.rule.Margin)
	})
}
