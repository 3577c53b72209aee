package parse

import (
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

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
