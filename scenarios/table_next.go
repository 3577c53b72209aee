package scenarios

import (
	"slices"
	"strconv"
	"strings"
)

// nextFields are the top-level keys that decide while a run runs which steps are
// needed, and the repeats that they may end.
func nextFields() []field[Scenario] {
	return []field[Scenario]{
		freeKey("repeats", "How often every variant meets every point. Differences need at least 3, better 5. As a mapping: until the results are "+
			"known well enough.", oneOf(wholeIn(between(1, mostRepeats)), blockOf(untilBlock().info())), readRepeats).or("1"),
		flagKey("null-test", "Run the baseline a second time, as a variant named after it with "+NullTestSuffix+" behind. What differs between the two is noise.",
			func(s *Scenario) *bool { return &s.NullTest }).or("false"),
		freeKey("search", "Look for the highest load that meets targets, in place of a sweep.", blockOf(searchBlock().info()),
			func(r *reader, n *node, s *Scenario) { decode(r, searchBlock(), n, &s.Search) }),
		freeKey("prune", "Leave out the points of a sweep above one that is lost.", blockOf(pruneBlock().info()),
			func(r *reader, n *node, s *Scenario) { decode(r, pruneBlock(), n, &s.Prune) }),
	}
}

const mostRepeats = 10_000

// repeats collects the repeats: block.
type repeats struct {
	max int
	Until
}

func readRepeats(r *reader, n *node, s *Scenario) {
	if n.kind == mapping {
		all := repeats{}
		decode(r, untilBlock(), n, &all)
		s.Repeats, s.Until = all.max, all.Until
		return
	}
	if n.kind != number {
		r.wrong(n, oneOf(wholeIn(between(1, mostRepeats)), blockOf(untilBlock().info())))
		return
	}
	if v, ok := r.whole(n, wholeIn(between(1, mostRepeats))); ok {
		s.Repeats = int(v)
	}
}

func untilBlock() block[repeats] {
	return block[repeats]{
		name: "under repeats:", doc: "After min repeats, a further one of every variant and point is run only while an interval is wider than until: " +
			"half of the 95 % interval of a figure's mean over server lives, as a share of the mean. Whether variants differ is never looked at. " +
			"Such an interval is a little too narrow, for a lucky streak of repeats that agree ends the run: see docs/search.md.",
		example: "\nmin: 3\nmax: 10\nuntil: 2%\nfigures: [output_throughput, p99_ttft_ms]\n",
		fields: []field[repeats]{
			wholeKey("min", "Repeats before the first look.", between(2, mostRepeats), func(u *repeats) *int { return &u.Min }).or("3"),
			wholeKey("max", "Repeats at most.", between(2, mostRepeats), func(u *repeats) *int { return &u.max }).must(),
			freeKey("until", "Width that is narrow enough.", simple(percentShape), func(r *reader, n *node, u *repeats) { u.Width, _ = r.percent(n) }).must(),
			freeKey("figures", "Whose intervals count; all must be narrow.", listOf(simple(textShape)), func(r *reader, n *node, u *repeats) { u.Figures = r.figures(n) }).
				elseNote("output_throughput; at a request rate, which sets that, median_e2el_s; of llama-bench every test"),
		},
	}
}

const (
	fewestSteps = 3
	mostSteps   = 100
)

func searchBlock() block[Search] {
	shape := simple(percentShape)
	return block[Search]{
		name: "under search:", doc: "Finds the highest load between from and to that meets every target, for each variant and repeat by itself. A load that comes " +
			"out near a target is measured again before it is believed. load: has neither sweep nor the metric.",
		example: "\nmetric: request-rate\nfrom: 1\nto: 64\nslo: {p99_ttft_ms: 500, p99_tpot_ms: 50, goodput_share: 99%}\nsteps: 15\ntolerance: 5%\n",
		fields: []field[Search]{
			enumKey("metric", "Load key that is searched.", []SearchMetric{SearchRate, SearchConcurrency}, func(s *Search) *SearchMetric { return &s.Metric }).or(string(SearchRate)),
			numberKey("from", "Lowest load.", positive(false), func(s *Search) *float64 { return &s.From }).must(),
			numberKey("to", "Highest load.", positive(false), func(s *Search) *float64 { return &s.To }).must(),
			numberKey("start", "First load that is measured: an estimate of the result.", positive(false), func(s *Search) *float64 { return &s.Start }).
				elseNote("from; of later repeats what an earlier one found"),
			freeKey("slo", "Targets by figure, as named in summary.csv, times also in ms. Of a throughput or a share the value is the least, of others the most. "+
				"success_share and goodput_share are of all requests that were to be sent.", mapOf(oneOf(numberIn(notNegative()), shape)), readSLO).must(),
			wholeKey("steps", "Steps at most, of each variant and repeat.", between(fewestSteps, mostSteps), func(s *Search) *int { return &s.Steps }).or("15"),
			freeKey("tolerance", "How close the highest load that met the targets and the lowest that missed them must come, at least 1%.", shape, func(r *reader, n *node, s *Search) {
				const least = 0.01
				v, ok := r.percent(n)
				if ok && v < least {
					r.fail(n.pos, "tolerance is %s, expected at least 1%%: loads nearer to each other cannot be told apart", n.shown())
				}
				s.Tolerance = v
			}).or("5%"),
		},
	}
}

func readSLO(r *reader, n *node, s *Search) {
	if n.kind != mapping || len(n.pairs) == 0 {
		r.wrong(n, mapOf(oneOf(numberIn(notNegative()), simple(percentShape))))
		return
	}
	for _, p := range n.pairs {
		if !r.figure(p.key, p.pos) {
			continue
		}
		c := Condition{Figure: p.key, Op: "<=", Pos: p.pos}
		if slices.Contains(higherFigures(), p.key) {
			c.Op = ">="
		}
		r.path = append(r.path, p.key)
		v, ok := r.target(p.value)
		r.path = r.path[:len(r.path)-1]
		if c.Value = v; ok && checkShare(r, c, p.value.pos) {
			s.SLO = append(s.SLO, c)
		}
	}
}

func pruneBlock() block[Prune] {
	return block[Prune]{
		name: "under prune:", doc: "A point is lost when one of its steps meets a condition, or failed because its requests did. Points above it, with as much of request-rate " +
			"and max-concurrency, more of one, and the same lengths, are then left out for that variant, in this repeat and in all later ones: " +
			"the first repeat that a point was tried in decides.",
		example: "\nwhen: [p99_ttft_ms > 2000, goodput_share < 50%]\n",
		fields: []field[Prune]{
			freeKey("when", "A figure, one of < <= > >=, and a number; or a list of them, of which any suffices.",
				oneOf(simple(textShape), listOf(simple(textShape))), readWhen).must(),
		},
	}
}

func readWhen(r *reader, n *node, p *Prune) {
	items := []*node{n}
	if n.kind == list {
		items = n.items
	}
	if len(items) == 0 {
		r.wrong(n, oneOf(simple(textShape), listOf(simple(textShape))))
	}
	for _, it := range items {
		if c, ok := r.condition(it); ok {
			p.When = append(p.When, c)
		}
	}
}

// condition reads "p99_ttft_ms > 2000".
func (r *reader) condition(n *node) (Condition, bool) {
	if n.kind != text {
		r.wrong(n, simple(textShape))
		return Condition{}, false
	}
	m := conditionText.FindStringSubmatch(n.text)
	if m == nil {
		r.fail(n.pos, `%s is %s, expected a figure, one of < <= > >=, and a number, such as "p99_ttft_ms > 2000"`, r.key(), n.shown())
		return Condition{}, false
	}
	c := Condition{Figure: m[1], Op: m[2], Pos: n.pos}
	c.Value, _ = strconv.ParseFloat(m[3], 64) // digits, see conditionText
	if m[4] != "" {
		c.Value /= 100
	}
	return c, r.figure(c.Figure, n.pos) && checkShare(r, c, n.pos)
}

// checkShare: a share above 1 was meant as a percentage.
func checkShare(r *reader, c Condition, pos Pos) bool {
	if !strings.HasSuffix(c.Figure, "_share") || c.Value <= 1 {
		return true
	}
	r.fail(pos, "%s is a share from 0 to 1, or a percentage such as 99%%", c.Figure)
	return false
}

// figure reports a name that no figure has.
func (r *reader) figure(name string, pos Pos) bool {
	if isFigure(name) {
		return true
	}
	hint := didYouMean(name, FigureNames())
	if name == "goodput" {
		hint = `, did you mean "goodput_share" or "request_goodput"?`
	}
	if hint == "" {
		hint = ", expected one of summary.csv such as p99_ttft_ms"
	}
	r.fail(pos, "no figure is named %q%s", name, hint)
	return false
}

// figures reads a list of names of figures.
func (r *reader) figures(n *node) []string {
	words, ok := r.texts(n)
	if ok && len(words) == 0 {
		r.fail(n.pos, "%s is an empty list", r.key())
	}
	for i, word := range words {
		if r.figure(word, n.items[i].pos) && slices.Contains(words[:i], word) {
			r.fail(n.items[i].pos, "%s lists %s twice", r.key(), word)
		}
	}
	return words
}

// target reads a number, or a percentage as a share.
func (r *reader) target(n *node) (float64, bool) {
	if n.kind == text && percentText.MatchString(n.text) {
		return r.percent(n)
	}
	if n.kind != number {
		r.wrong(n, oneOf(numberIn(notNegative()), simple(percentShape)))
		return 0, false
	}
	return r.number(n, numberIn(notNegative()))
}

// percent reads "2%" as 0.02.
func (r *reader) percent(n *node) (float64, bool) {
	m := percentText.FindStringSubmatch(n.text)
	switch {
	case n.kind == number:
		r.fail(n.pos, "%s is %s, which has no unit, expected %s", r.key(), n.shown(), simple(percentShape).words())
		return 0, false
	case n.kind != text || m == nil:
		r.wrong(n, simple(percentShape))
		return 0, false
	}
	v, _ := strconv.ParseFloat(m[1], 64) // digits, see percentText
	if v == 0 {
		r.fail(n.pos, "%s is 0: every difference is larger than nothing", r.key())
		return 0, false
	}
	return v / 100, true
}
