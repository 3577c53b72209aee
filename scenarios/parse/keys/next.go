package keys

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// nextFields are the top-level keys that decide while a run runs which steps are
// needed, and the repeats that they may end.
func nextFields() []schema.Field[scenarios.Scenario] {
	return []schema.Field[scenarios.Scenario]{
		schema.FreeKey("repeats", "Number of times that each variant is measured at each load point. Differences "+
			"need at least 3, better 5. A mapping repeats until the results are precise enough.",
			schema.OneOf(schema.WholeIn(schema.Between(1, mostRepeats)),
				schema.BlockOf(Until().Info())), readRepeats).Or("1"),
		schema.FlagKey("null-test", "Run the baseline a second time, as a variant with the suffix "+
			scenarios.NullTestSuffix+". Any difference between the two is noise.",
			func(s *scenarios.Scenario) *bool { return &s.NullTest }).Or("false"),
		schema.GivenBlockKey("search", "Find the highest load that meets targets, instead of a sweep.", Search(),
			func(s *scenarios.Scenario) *scenarios.Search { return &s.Search }),
		schema.GivenBlockKey("prune", "Skip the points of a sweep above one that is overloaded.", Prune(),
			func(s *scenarios.Scenario) *scenarios.Prune { return &s.Prune }),
		schema.GivenBlockKey("tune", "Find the best variant in rounds, each of which measures the better part of the "+
			"variants of the round before.", Tune(),
			func(s *scenarios.Scenario) *scenarios.Tune { return &s.Tune }),
		schema.GivenBlockKey("blame", "Find which of the settings in which two variants differ make the difference.",
			Blame(), func(s *scenarios.Scenario) *scenarios.Blame { return &s.Blame }),
		schema.GivenBlockKey("bisect", "Find the version with which a figure changed: the variants are versions in "+
			"their order.", Bisect(), func(s *scenarios.Scenario) *scenarios.Bisect { return &s.Bisect }),
	}
}

const mostRepeats = 10_000

// repeats collects the repeats: block.
type repeats struct {
	max int
	scenarios.Until
}

func readRepeats(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
	if n.Kind == schema.Mapping {
		all := repeats{}
		schema.Decode(r, Until(), n, &all)
		s.Repeats, s.Until = all.max, all.Until
		return
	}
	if n.Kind != schema.Number {
		r.Wrong(n, schema.OneOf(schema.WholeIn(schema.Between(1, mostRepeats)), schema.BlockOf(Until().Info())))
		return
	}
	if v, ok := r.Whole(n, schema.WholeIn(schema.Between(1, mostRepeats))); ok {
		s.Repeats = int(v)
	}
}

// Until are the keys of until:.
func Until() schema.Block[repeats] {
	return schema.Block[repeats]{
		Name: "under repeats:", Doc: "After min repeats, a further repeat of each variant and load point runs only " +
			"while an interval is wider than until: half of the 95 % interval of a figure's mean over server " +
			"starts, relative to the mean. The decision never depends on whether variants differ. Such an " +
			"interval is slightly too narrow, because repeats that happen to agree end the run: see docs/search.md.",
		Example: "\nmin: 3\nmax: 10\nuntil: 2%\nfigures: [output_throughput, p99_ttft_ms]\n",
		Fields: []schema.Field[repeats]{
			schema.WholeKey("min", "Repeats before the first check.", schema.Between(2, mostRepeats),
				func(u *repeats) *int { return &u.Min }).Or("3"),
			schema.WholeKey("max", "Maximum number of repeats.", schema.Between(2, mostRepeats),
				func(u *repeats) *int { return &u.max }).Must(),
			schema.PercentKey("until", "Width at which an interval is narrow enough.",
				func(u *repeats) *float64 { return &u.Width }).Must(),
			schema.ReadKey("figures", "Figures whose intervals are checked; all must be narrow enough.",
				schema.Texts(), readFigures, func(u *repeats) *[]string { return &u.Figures }).
				DefaultNote("output_throughput; at a request rate, which sets that, median_e2el_s; of llama-bench " +
					"every test"),
		},
	}
}

const (
	fewestSteps = 3
	mostSteps   = 100
)

// Search are the keys of search:.
func Search() schema.Block[scenarios.Search] {
	return schema.Block[scenarios.Search]{
		Name: "under search:", Doc: "Finds the highest load between from and to that meets every target, " +
			"separately for each variant and repeat. A load whose result is close to a target is measured again " +
			"before it counts. load: must not contain sweep or the metric.",
		Example: "\nmetric: request-rate\nfrom: 1\nto: 64\nslo: {p99_ttft_ms: 500, p99_tpot_ms: 50, goodput_share: " +
			"99%}\nsteps: 15\ntolerance: 5%\n",
		Fields: []schema.Field[scenarios.Search]{
			schema.EnumKey("metric", "Load key to search over.", []scenarios.SearchMetric{
				scenarios.SearchRate,
				scenarios.SearchConcurrency,
			}, func(s *scenarios.Search) *scenarios.SearchMetric { return &s.Metric }).
				Or(string(scenarios.SearchRate)),
			schema.NumberKey("from", "Lowest load.", schema.Positive(false),
				func(s *scenarios.Search) *float64 { return &s.From }).Must(),
			schema.NumberKey("to", "Highest load.", schema.Positive(false),
				func(s *scenarios.Search) *float64 { return &s.To }).Must(),
			schema.NumberKey("start", "First load to measure: an estimate of the result.", schema.Positive(false),
				func(s *scenarios.Search) *float64 { return &s.Start }).
				DefaultNote("from; of later repeats what an earlier one found"),
			sloKey("Targets by figure, as named in summary.csv; times may also be in ms. For "+
				"throughputs and shares the value is a minimum, for other figures a maximum. success_share and "+
				"goodput_share are shares of all requests that were scheduled.",
				func(s *scenarios.Search) *[]scenarios.Condition { return &s.SLO }).Must(),
			schema.WholeKey("steps", "Maximum number of steps per variant and repeat.",
				schema.Between(fewestSteps, mostSteps), func(s *scenarios.Search) *int { return &s.Steps }).Or("15"),
			schema.FreeKey("tolerance", "Relative distance between the highest load that met the targets and the "+
				"lowest that missed them at which the search ends, at least 1%.", schema.Simple(schema.PercentShape),
				func(r *schema.Reader, n *schema.Node, s *scenarios.Search) {
					const least = 0.01
					v, ok := r.Percent(n)
					if ok && v < least {
						r.Fail(n.Pos, "tolerance is %s, expected at least 1%%: loads nearer to each other cannot be "+
							"distinguished", n.Shown())
					}
					s.Tolerance = v
				}).Or("5%"),
		},
	}
}

// sloKey is the key slo: targets by figure.
func sloKey[T any](doc string, at func(*T) *[]scenarios.Condition) schema.Field[T] {
	return schema.ReadKey("slo", doc, sloShape(), readSLO, at)
}

func sloShape() schema.Shape { return schema.MapOf(targetShape()) }

// targetShape is a number, or a percentage as a share.
func targetShape() schema.Shape {
	return schema.OneOf(schema.NumberIn(schema.NotNegative()), schema.Simple(schema.PercentShape))
}

func readSLO(r *schema.Reader, n *schema.Node) (targets []scenarios.Condition) {
	if n.Kind != schema.Mapping || len(n.Pairs) == 0 {
		r.Wrong(n, sloShape())
		return nil
	}

	for _, p := range n.Pairs {
		if !readFigure(r, p.Key, p.Pos) {
			continue
		}
		c := scenarios.Condition{Figure: p.Key, Op: "<=", Pos: p.Pos}
		if f, err := catalog.Named(p.Key); err == nil && f.Higher {
			c.Op = ">="
		}
		r.Path = append(r.Path, p.Key)
		v, ok := readTarget(r, p.Value)
		r.Path = r.Path[:len(r.Path)-1]
		if c.Value = v; ok && checkShare(r, c, p.Value.Pos) {
			targets = append(targets, c)
		}
	}
	return targets
}

// Prune are the keys of prune:.
func Prune() schema.Block[scenarios.Prune] {
	return schema.Block[scenarios.Prune]{
		Name: "under prune:", Doc: "A load point is overloaded if one of its steps meets a condition, or fails " +
			"because its requests do. Higher load points of that variant are then skipped, in this repeat and in " +
			"all later ones: those with the same lengths, at least the same request-rate and max-concurrency, and " +
			"more of one of them. The first repeat in which a load point was tried decides.",
		Example: "\nwhen: [p99_ttft_ms > 2000, goodput_share < 50%]\n",
		Fields: []schema.Field[scenarios.Prune]{
			schema.FreeKey("when", "A figure, one of < <= > >=, and a number; or a list of such conditions, any of "+
				"which suffices.",
				schema.TextOrTexts(), readWhen).Must(),
		},
	}
}

func readWhen(r *schema.Reader, n *schema.Node, p *scenarios.Prune) {
	items := []*schema.Node{n}
	if n.Kind == schema.List {
		items = n.Items
	}
	if len(items) == 0 {
		r.Wrong(n, schema.TextOrTexts())
	}
	for _, it := range items {
		if c, ok := readCondition(r, it); ok {
			p.When = append(p.When, c)
		}
	}
}

// readCondition reads "p99_ttft_ms > 2000".
func readCondition(r *schema.Reader, n *schema.Node) (scenarios.Condition, bool) {
	if n.Kind != schema.Text {
		r.Wrong(n, schema.Simple(schema.TextShape))
		return scenarios.Condition{}, false
	}

	m := scenarios.ConditionText.FindStringSubmatch(n.Text)
	if m == nil {
		r.Fail(n.Pos, `%s is %s, expected a figure, one of < <= > >=, and a number, such as "p99_ttft_ms > 2000"`,
			r.Key(), n.Shown())
		return scenarios.Condition{}, false
	}

	c := scenarios.Condition{Figure: m[1], Op: m[2], Pos: n.Pos}
	c.Value, _ = strconv.ParseFloat(m[3], 64) // digits, see ConditionText
	if m[4] != "" {
		c.Value /= 100
	}

	return c, readFigure(r, c.Figure, n.Pos) && checkShare(r, c, n.Pos)
}

// checkShare: a share above 1 was meant as a percentage.
func checkShare(r *schema.Reader, c scenarios.Condition, pos schema.Pos) bool {
	if !strings.HasSuffix(c.Figure, "_share") || c.Value <= 1 {
		return true
	}
	r.Fail(pos, "%s is a share from 0 to 1, or a percentage such as 99%%", c.Figure)
	return false
}

// readFigure reports a name that no figure has.
func readFigure(r *schema.Reader, name string, pos schema.Pos) bool {
	if _, err := catalog.Named(name); err == nil {
		return true
	}
	hint := schema.DidYouMean(name, catalog.ConditionNames())
	if name == "goodput" {
		hint = `, did you mean "goodput_share" or "request_goodput"?`
	}
	if hint == "" {
		hint = ", expected one of summary.csv such as p99_ttft_ms"
	}
	r.Fail(pos, "no figure is named %q%s", name, hint)
	return false
}

// readFigures reads a list of names of figures.
func readFigures(r *schema.Reader, n *schema.Node) []string {
	words := readTexts(r, n)
	for i, word := range words {
		if readFigure(r, word, n.Items[i].Pos) && slices.Contains(words[:i], word) {
			r.Fail(n.Items[i].Pos, "%s lists %s twice", r.Key(), word)
		}
	}
	return words
}

func readTarget(r *schema.Reader, n *schema.Node) (float64, bool) {
	if n.Kind == schema.Text && schema.PercentText.MatchString(n.Text) {
		return r.Percent(n)
	}
	if n.Kind != schema.Number {
		r.Wrong(n, targetShape())
		return 0, false
	}
	return r.Number(n, schema.NumberIn(schema.NotNegative()))
}
