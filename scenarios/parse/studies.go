package parse

import (
	"slices"

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
		p.file.Warnf(root.KeyAt("tune"), "%d of %d variants were drawn with seed %d", t.Candidates, t.Drawn, s.Seed)
	}
	s.Repeats = len(t.Sizes(len(s.Variants))) + t.Confirm
}

// addNullTest makes the baseline run a second time, behind all others: what
// drifts within a round shows in it.
func (p *parser) addNullTest(root *schema.Node, s *scenarios.Scenario) {
	if !s.NullTest || len(s.Variants) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(s.Variants, func(v scenarios.Variant) bool { return v.Name == s.Baseline }))
	again := s.Variants[at]
	again.Name += scenarios.NullTestSuffix
	if slices.ContainsFunc(s.Variants, func(v scenarios.Variant) bool { return v.Name == again.Name }) {
		p.errs.Add(root.KeyAt("null-test"), "null-test adds a variant named %q, but a variant has that name already",
			again.Name)
		return
	}
	s.Variants = append(s.Variants, again)
}
