package check

import (
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// checkNext checks what the keys that decide while a run runs mean for others.
func (c *scenarioCheck) checkNext() {
	c.checkUntil(c.root.Get("repeats"))
	c.checkSearch(c.root.Get("search"))
	c.checkPrune(c.root.Get("prune"))
	c.checkStudies()
}

func (c *scenarioCheck) checkUntil(n *schema.Node) {
	s := c.Scenario
	if s.Until.Width == 0 {
		return
	}

	switch at := n.At("until"); {
	case s.Until.Min > s.Repeats:
		c.errorf(n.At("min"), "min is %d, above max %d", s.Until.Min, s.Repeats)
	case s.Order == scenarios.Grouped:
		c.errorf(at, "until needs order interleaved or shuffled: a round of repeats is decided when all variants "+
			"have had the one before")
	case s.Restart == scenarios.RestartNever && len(s.Variants) == 1:
		c.errorf(at, "until needs a server start for each repeat: restart must not be never with a single variant")
	case s.On == scenarios.OnSlurm:
		c.errorf(at, "until cannot be combined with on: slurm: jobs do not know of each other's results")
	case s.Search.Metric != "":
		c.errorf(at, "until cannot be combined with search:, whose points are not the same in every repeat")
	}

	c.checkFigures(n.At("figures"), s.Until.Figures)
}

func (c *scenarioCheck) checkSearch(n *schema.Node) {
	s := c.Scenario
	search := s.Search
	if search.Metric == "" || n == nil {
		return
	}

	whole := func(v float64) bool { return v == math.Trunc(v) }
	switch {
	case s.Method != scenarios.Serving:
		c.errorf(n.Pos, "search is for method serving")
	case search.From >= search.To:
		c.errorf(n.At("from"), "from is %g, expected less than to, which is %g", search.From, search.To)
	case search.Start != 0 && (search.Start < search.From || search.Start > search.To):
		c.errorf(n.At("start"), "start is %g, expected a load from %g to %g", search.Start, search.From, search.To)
	case search.Metric == scenarios.SearchConcurrency &&
		!(whole(search.From) && whole(search.To) && whole(search.Start)):
		c.errorf(n.At("from"), "from, to and start of max-concurrency are whole numbers")
	case s.Prune.When != nil:
		c.errorf(n.Pos, "prune: is for a sweep: a search does not climb above what missed its targets")
	}

	for _, v := range s.Variants {
		if v.Extrapolate > 1 {
			c.errorf(v.Pos, "variant %s: extrapolate cannot be combined with search: "+
				"what is not measured meets no target",
				v.Name)
		}
	}

	for _, l := range s.Points[:min(1, len(s.Points))] {
		if search.Metric == scenarios.SearchConcurrency && l.Duration == 0 && float64(l.NumPrompts) < search.To {
			c.errorf(n.At("to"), "to is %g, which is never reached with num-prompts %d", search.To, l.NumPrompts)
		}
		if need := search.To * l.Duration.Seconds(); search.Metric == scenarios.SearchRate &&
			float64(l.NumPrompts) < need && l.PrefixCache == scenarios.CacheCold {
			c.Warnf(n.At("to"), "at %g requests/s for %s prompts are sent more than once, and come from a prefix "+
				"cache: num-prompts %d would do", search.To, l.Duration, int(math.Ceil(need)))
		}
	}

	c.checkConditions(search.SLO)
}

// checkPrune: the points must climb.
func (c *scenarioCheck) checkPrune(n *schema.Node) {
	s := c.Scenario
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
				c.errorf(n.Pos, "prune: point %s comes before %s, which is lower: list points from low load to high",
					high.Label, low.Label)
				return
			}
		}
	}

	switch {
	case !s.Method.SendsRequests():
		c.errorf(n.Pos, "prune is for methods that send requests")
	case !climbs && len(s.Points) > 0 && s.Search.Metric == "":
		c.errorf(n.Pos, "prune: no point of the sweep is a higher load than another, in request-rate or "+
			"max-concurrency")
	case s.Order == scenarios.Grouped && s.Restart == scenarios.RestartPoint && s.Repeats > 1:
		c.Warnf(n.Pos, "prune: with order grouped and restart point a point has had all its repeats before the next "+
			"is left out")
	}

	c.checkConditions(s.Prune.When)
}

func (c *scenarioCheck) checkConditions(all []scenarios.Condition) {
	for _, condition := range all {
		c.checkFigures(condition.Pos, []string{condition.Figure})
	}
}

// checkFigures: the load must give what the figures need.
func (c *scenarioCheck) checkFigures(pos schema.Pos, figures []string) {
	for _, l := range c.Scenario.Points[:min(1, len(c.Scenario.Points))] {
		for _, name := range figures {
			q, is := catalog.PercentileOf(name)
			if is && l.Percentiles != nil && !slices.Contains(l.Percentiles, q) {
				c.errorf(pos, "%s: %g is not among load.percentiles, add it there", name, q)
			}
			whole, part, ofPart := strings.Cut(name, "@")
			if f, err := catalog.Named(whole); err == nil && f.Goals && !hasGoals(l, part) {
				c.errorf(pos, "%s needs goals under load.goodput", name)
			}
			if all := partNames(l); ofPart && !slices.Contains(all, part) {
				c.errorf(pos, "%s: the load has no class, adapter or stage %q%s", name, part,
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

// checkStudies checks what tune:, blame: and bisect: mean for other keys.
func (c *scenarioCheck) checkStudies() {
	s := c.Scenario
	for _, study := range []struct {
		key, figure string
		problems    []string
	}{
		{"tune", s.Tune.Figure, s.TuneProblems()},
		{"blame", s.Blame.Figure, s.BlameProblems()},
		{"bisect", s.Bisect.Figure, s.BisectProblems()},
	} {
		n := c.root.Get(study.key)
		if study.figure == "" || n == nil {
			continue
		}
		for _, why := range study.problems {
			c.errorf(n.Pos, "%s", why)
		}
		c.checkFigures(n.At("figure"), []string{study.figure})
	}
	c.checkConditions(s.Tune.SLO)
}
