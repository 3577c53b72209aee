package parse

import (
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/schema"
)

// mixed are the variants that run: those of the file, or where a scenario has
// blame:, the mixtures of two of them.
func (p *parser) mixed(root *schema.Node, all []expand.ExpandedVariant, s *scenarios.Scenario,
) []expand.ExpandedVariant {
	b := &s.Blame
	if b.From == "" || b.To == "" || len(p.errs.List) > 0 {
		return all
	}

	mixtures, err := expand.Mixtures(b, all)
	if err != nil {
		p.errs.Add(root.At("blame"), "blame: %v", err)
		return all
	}

	const usualRepeats = 3
	if s.Baseline = b.From; !root.Has("repeats") {
		s.Repeats, p.defaults["repeats"] = usualRepeats, "3"
	}
	p.shuffle(root, s)
	return mixtures
}

// limitVersions leaves the variants of a bisection, and makes its rounds the
// repeats.
func (p *parser) limitVersions(root *schema.Node, s *scenarios.Scenario) {
	if s.Bisect.Figure == "" || len(s.Variants) == 0 {
		return
	}

	versions, err := s.Bisect.Between(s.Variants)
	if err != nil {
		p.errs.Add(root.At("bisect"), "bisect: %v", err)
		return
	}
	if root.Has("repeats") {
		p.errs.Add(root.KeyAt("repeats"), "repeats cannot be combined with bisect:, whose rounds are the repeats")
	}
	delete(p.defaults, "repeats")
	s.Variants, s.Baseline, s.Repeats = versions, versions[0].Name, s.Bisect.Rounds(len(versions))
	p.shuffle(root, s)
}

// shuffle is the order of a scenario that gives none, where its servers must be
// started in a random one.
func (p *parser) shuffle(root *schema.Node, s *scenarios.Scenario) {
	if !root.Has("order") {
		s.Order, p.defaults["order"] = scenarios.Shuffled, string(scenarios.Shuffled)
	}
}

// checkStudies checks what tune:, blame: and bisect: mean for other keys.
func (p *parser) checkStudies(root *schema.Node, s *scenarios.Scenario) {
	for _, study := range []struct {
		key, figure string
		problems    []string
	}{
		{"tune", s.Tune.Figure, s.TuneProblems()},
		{"blame", s.Blame.Figure, s.BlameProblems()},
		{"bisect", s.Bisect.Figure, s.BisectProblems()},
	} {
		n := root.Get(study.key)
		if study.figure == "" || n == nil {
			continue
		}
		for _, why := range study.problems {
			p.errs.Add(n.Pos, "%s", why)
		}
		p.checkFigures(n.At("figure"), s, []string{study.figure})
	}
	p.checkConditions(s, s.Tune.SLO)
}
