package parse

import (
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

const (
	mostConfirmations = 100
	mostCandidates    = 1000
	leastKept         = 0.1
)

func tuneBlock() schema.Block[scenarios.Tune] {
	share := schema.Simple(schema.PercentShape)

	return schema.Block[scenarios.Tune]{
		Name: "under tune:", Doc: "Finds the variant with the best figure among those that meet every target. " +
			"Variants usually come from a matrix over arguments or environment variables. Each round starts the " +
			"servers of all remaining variants and keeps the better part. Further rounds measure the best variant " +
			"beside the baseline; only these confirm it. A variant whose server does not start is dropped. Rounds " +
			"take the place of repeats. See docs/tuning.md.",
		Example: "\nfigure: output_throughput\nslo: {p90_ttft_ms: 1000, p90_tpot_ms: 50}\nkeep: 50%\nconfirm: 3\n" +
			"candidates: 16\n",
		Fields: []schema.Field[scenarios.Tune]{
			schema.FreeKey("figure", "Figure to optimize, as named in summary.csv. With several load points, each "+
				"variant counts at the one where it met the targets with its best figure.",
				schema.Simple(schema.TextShape), func(r *schema.Reader, n *schema.Node, t *scenarios.Tune) {
					if name, ok := r.Text(n); ok && readFigure(r, name, n.Pos) {
						t.Figure = name
					}
				}).Must(),
			schema.FreeKey("slo", "Targets by figure, as in search:.", schema.MapOf(schema.OneOf(
				schema.NumberIn(schema.NotNegative()), share)),
				func(r *schema.Reader, n *schema.Node, t *scenarios.Tune) { t.SLO = readSLO(r, n) }),
			schema.FreeKey("keep", "Share of the variants that go on after a round, 10% to 90%.",
				share, func(r *schema.Reader, n *schema.Node, t *scenarios.Tune) {
					v, ok := r.Percent(n)
					if ok && (v < leastKept || v > 1-leastKept) {
						r.Fail(n.Pos, "keep is %s, expected 10%% to 90%%", n.Shown())
					}
					t.Keep = v
				}).Or("50%"),
			schema.WholeKey("confirm", "Rounds with the best variant and the baseline, after all choices are made.",
				schema.Between(2, mostConfirmations), func(t *scenarios.Tune) *int { return &t.Confirm }).Or("3"),
			schema.WholeKey("candidates", "Variants at most: of more, the baseline and others drawn by seed. 0: all.",
				schema.Between(0, mostCandidates), func(t *scenarios.Tune) *int { return &t.Candidates }).Or("0"),
		},
	}
}

// drawCandidates leaves the variants of a tuning that are tried, and makes its
// rounds the repeats.
func (p *parser) drawCandidates(root *schema.Node, s *scenarios.Scenario) {
	t := &s.Tune
	if t.Figure == "" || len(s.Variants) == 0 {
		return
	}

	if root.Has("repeats") {
		p.errs.Add(root.KeyAt("repeats"), "repeats cannot be combined with tune:, whose rounds are the repeats")
	}
	delete(p.defaults, "repeats")
	if t.Drawn = len(s.Variants); t.Candidates > 1 && t.Drawn > t.Candidates {
		s.Variants = t.Draw(s.Variants, s.Baseline, s.Seed)
		p.warn(root.KeyAt("tune"), "%d of %d variants were drawn with seed %d", t.Candidates, t.Drawn, s.Seed)
	}
	s.Repeats = len(t.Sizes(len(s.Variants))) + t.Confirm
}

// checkTune checks what tune: means for other keys.
func (p *parser) checkTune(n *schema.Node, s *scenarios.Scenario) {
	t := s.Tune
	if t.Figure == "" || n == nil {
		return
	}

	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{len(s.Variants) < 2, "tune needs at least two variants: give a matrix of arguments"},
		{t.Candidates == 1, "candidates is 1, expected at least 2, or 0 for all"},
		{s.Method == scenarios.LlamaBench, "tune is for methods that send requests"},
		{s.Search.Metric != "", "tune cannot be combined with search: give load points in load.sweep, and targets " +
			"under tune.slo"},
		{s.NullTest, "tune cannot be combined with null-test"},
		{s.Order == scenarios.Grouped, "tune needs order interleaved or shuffled: a round is decided when all its " +
			"variants have been measured"},
		{s.Restart == scenarios.RestartNever, "tune needs a server start for each round: restart must not be never"},
		{s.On == scenarios.OnSlurm, "tune cannot be combined with on: slurm: jobs do not know each other's results"},
	} {
		if c.wrong {
			p.errs.Add(n.Pos, "%s", c.why)
		}
	}

	for _, v := range s.Variants {
		if v.Extrapolate > 1 {
			p.errs.Add(v.Pos, "variant %s: extrapolate cannot be combined with tune:", v.Name)
		}
	}
	p.checkFigures(n.At("figure"), s, []string{t.Figure})
	p.checkConditions(s, t.SLO)
}
