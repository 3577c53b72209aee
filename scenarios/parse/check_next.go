package parse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

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

// searchedLoad gives the load: block of a search its metric, to be read like
// one that a file gives.
func (p *parser) searchedLoad(load *schema.Node, s *scenarios.Scenario) *schema.Node {
	if s.Search.Metric == "" {
		return load
	}
	metric := string(s.Search.Metric)
	for _, key := range []string{"sweep", metric, "ramp"} {
		if load.Has(key) {
			p.errs.Add(load.KeyAt(key), "%s cannot be combined with search:, which decides the %s of every step", key,
				metric)
		}
	}
	p.expandSweep(load) // says what is wrong within a sweep, for those who drop the search instead
	out := load.Without("sweep", metric, "ramp")
	value := &schema.Node{
		Kind: schema.Number, Text: strconv.FormatFloat(s.Search.Typical(), 'f', -1, 64),
		Pos: load.Pos, Size: 1,
	}
	out.Pairs = append(slices.Clone(out.Pairs), schema.Pair{Key: metric, Pos: load.Pos, Value: value})
	return out
}

// expandSearch makes the steps of a search points of their own.
func expandSearch(s *scenarios.Scenario) {
	if s.Search.Metric == "" || len(s.Points) != 1 {
		return
	}
	point := s.Points[0]
	s.Points = nil
	for i := range s.Search.Steps {
		point.Label = fmt.Sprintf("search-%d", i+1)
		s.Points = append(s.Points, point)
	}
}

// checkNext checks what the keys that decide while a run runs mean for others.
func (p *parser) checkNext(root *schema.Node, s *scenarios.Scenario) {
	p.checkUntil(root.Get("repeats"), s)
	p.checkSearch(root.Get("search"), s)
	p.checkPrune(root.Get("prune"), s)
	p.checkStudies(root, s)
}

func (p *parser) checkUntil(n *schema.Node, s *scenarios.Scenario) {
	if s.Until.Width == 0 {
		return
	}

	switch at := n.At("until"); {
	case s.Until.Min > s.Repeats:
		p.errs.Add(n.At("min"), "min is %d, above max %d", s.Until.Min, s.Repeats)
	case s.Order == scenarios.Grouped:
		p.errs.Add(at, "until needs order interleaved or shuffled: a round of repeats is decided when all variants "+
			"have had the one before")
	case s.Restart == scenarios.RestartNever && len(s.Variants) == 1:
		p.errs.Add(at, "until needs a server start for each repeat: restart must not be never with a single variant")
	case s.On == scenarios.OnSlurm:
		p.errs.Add(at, "until cannot be combined with on: slurm: jobs do not know of each other's results")
	case s.Search.Metric != "":
		p.errs.Add(at, "until cannot be combined with search:, whose points are not the same in every repeat")
	}

	p.checkFigures(n.At("figures"), s, s.Until.Figures)
}

func (p *parser) checkSearch(n *schema.Node, s *scenarios.Scenario) {
	search := s.Search
	if search.Metric == "" || n == nil {
		return
	}

	whole := func(v float64) bool { return v == math.Trunc(v) }
	switch {
	case s.Method != scenarios.Serving:
		p.errs.Add(n.Pos, "search is for method serving")
	case search.From >= search.To:
		p.errs.Add(n.At("from"), "from is %g, expected less than to, which is %g", search.From, search.To)
	case search.Start != 0 && (search.Start < search.From || search.Start > search.To):
		p.errs.Add(n.At("start"), "start is %g, expected a load from %g to %g", search.Start, search.From, search.To)
	case search.Metric == scenarios.SearchConcurrency &&
		!(whole(search.From) && whole(search.To) && whole(search.Start)):
		p.errs.Add(n.At("from"), "from, to and start of max-concurrency are whole numbers")
	case s.Prune.When != nil:
		p.errs.Add(n.Pos, "prune: is for a sweep: a search does not climb above what missed its targets")
	}

	for _, v := range s.Variants {
		if v.Extrapolate > 1 {
			p.errs.Add(v.Pos, "variant %s: extrapolate cannot be combined with search: "+
				"what is not measured meets no target",
				v.Name)
		}
	}

	for _, l := range s.Points[:min(1, len(s.Points))] {
		if search.Metric == scenarios.SearchConcurrency && l.Duration == 0 && float64(l.NumPrompts) < search.To {
			p.errs.Add(n.At("to"), "to is %g, which is never reached with num-prompts %d", search.To, l.NumPrompts)
		}
		if need := search.To * l.Duration.Seconds(); search.Metric == scenarios.SearchRate &&
			float64(l.NumPrompts) < need && l.PrefixCache == scenarios.CacheCold {
			p.warn(n.At("to"), "at %g requests/s for %s prompts are sent more than once, and come from a prefix "+
				"cache: num-prompts %d would do", search.To, l.Duration, int(math.Ceil(need)))
		}
	}

	p.checkConditions(s, search.SLO)
}

// checkPrune: the points must climb.
func (p *parser) checkPrune(n *schema.Node, s *scenarios.Scenario) {
	if s.Prune.When == nil || n == nil {
		return
	}

	climbs := false
	for i, low := range s.Points {
		for k, high := range s.Points {
			if !high.Above(low) {
				continue
			}
			if climbs = true; k < i {
				p.errs.Add(n.Pos, "prune: point %s comes before %s, which is lower: list points from low load to high",
					high.Label, low.Label)
				return
			}
		}
	}

	switch {
	case !s.Method.SendsRequests():
		p.errs.Add(n.Pos, "prune is for methods that send requests")
	case !climbs && len(s.Points) > 0 && s.Search.Metric == "":
		p.errs.Add(n.Pos, "prune: no point of the sweep lies above another in request-rate or max-concurrency")
	case s.Order == scenarios.Grouped && s.Restart == scenarios.RestartPoint && s.Repeats > 1:
		p.warn(n.Pos, "prune: with order grouped and restart point a point has had all its repeats before the next "+
			"is left out")
	}

	p.checkConditions(s, s.Prune.When)
}

func (p *parser) checkConditions(s *scenarios.Scenario, all []scenarios.Condition) {
	for _, c := range all {
		p.checkFigures(c.Pos, s, []string{c.Figure})
	}
}

// checkFigures: the load must give what the figures need.
func (p *parser) checkFigures(pos schema.Pos, s *scenarios.Scenario, figures []string) {
	for _, l := range s.Points[:min(1, len(s.Points))] {
		for _, name := range figures {
			q, is := catalog.PercentileOf(name)
			if is && l.Percentiles != nil && !slices.Contains(l.Percentiles, q) {
				p.errs.Add(pos, "%s: %g is not among load.percentiles, add it there", name, q)
			}
			whole, part, ofPart := strings.Cut(name, "@")
			if f, err := catalog.Named(whole); err == nil && f.Goals && !hasGoals(l, part) {
				p.errs.Add(pos, "%s needs goals under load.goodput", name)
			}
			if all := partNames(l); ofPart && !slices.Contains(all, part) {
				p.errs.Add(pos, "%s: the load has no class, adapter or stage %q%s", name, part,
					schema.DidYouMean(part, all))
			}
		}
	}
}

// hasGoals reports whether the requests of a load, or of a part of it, have goals.
func hasGoals(l scenarios.Load, part string) bool {
	for i, class := range l.Classes {
		if class.Name == part {
			return len(l.OfClass[i].Goodput) > 0
		}
	}
	return len(l.Goodput) > 0
}

// partNames are the parts of a load that have figures of their own.
func partNames(l scenarios.Load) []string {
	var names []string
	adapters := slices.Clone(l.Adapters)
	for _, class := range l.Classes {
		names = append(names, class.Name)
		adapters = append(adapters, class.Adapters...)
	}
	for _, adapter := range adapters {
		names = append(names, adapter.Name)
	}
	for _, stage := range l.Stages {
		names = append(names, stage.Name)
	}
	if l.Probes.Active() {
		names = append(names, "probes")
	}
	return names
}
