package scenarios

import (
	"slices"
	"strconv"
	"strings"
)

// axis is a load key that a sweep may vary.
type axis struct {
	key   string
	short string // its part of a label
	value func(Load) string
}

// axes in the order of a label's parts.
func axes() []axis {
	whole := func(at func(Load) int) func(Load) string {
		return func(l Load) string { return strconv.Itoa(at(l)) }
	}
	return []axis{
		{"input-len", "in", inputLenLabel},
		{"output-len", "out", whole(func(l Load) int { return l.OutputLen })},
		{"request-rate", "rate", func(l Load) string {
			return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(l.RequestRate, 'g', -1, 64), "+"))
		}},
		{"max-concurrency", "c", whole(func(l Load) int { return l.MaxConcurrency })},
		{"num-prompts", "n", whole(func(l Load) int { return l.NumPrompts })},
	}
}

func axisNames() []string {
	var names []string
	for _, a := range axes() {
		names = append(names, a.key)
	}
	return names
}

// sweepShape is the shape of sweep:, made of the shapes of the swept keys.
func sweepShape() shape {
	grid, point := sweepBlocks()
	return oneOf(blockOf(grid), listOf(blockOf(point)))
}

// sweepBlocks are the tables of a grid and of a listed point.
func sweepBlocks() (grid, point *blockInfo) {
	grid = &blockInfo{
		name: "under sweep:", doc: "A mapping from load keys to lists of values: every combination is a point, the first key varying slowest.",
		example: "max-concurrency: [1, 4, 16]\ninput-len: [128, 1024]\n",
	}
	point = &blockInfo{
		name: "in a point of sweep:", doc: "In a list of points, each is a mapping of load keys.",
		example: "label: short\ninput-len: 128\noutput-len: 64\nmax-concurrency: 8\n",
		keys:    []info{{key: "label", doc: "Names the point in tables and step ids.", shape: simple(textShape), note: "made of what the sweep varies"}},
	}
	for _, f := range trafficFieldsWithoutSweep() {
		if slices.Contains(axisNames(), f.key) {
			grid.keys = append(grid.keys, info{key: f.key, doc: f.doc, shape: listOf(f.shape)})
			point.keys = append(point.keys, info{key: f.key, doc: f.doc, shape: f.shape})
		}
	}
	return grid, point
}

// sweepPoint is what one point sets.
type sweepPoint struct {
	set   []pair
	label string
	pos   Pos
}

// expandSweep lists the points of sweep:, and the keys that it varies.
func (p *parser) expandSweep(load *node) (points []sweepPoint, varies []string) {
	sweep := load.get("sweep")
	if sweep == nil || sweep.kind == null {
		return []sweepPoint{{pos: load.pos}}, nil
	}
	switch {
	case sweep.kind == mapping && len(sweep.pairs) > 0:
		return p.gridSweep(load, sweep), sweep.keys()
	case sweep.kind == list && len(sweep.items) > 0:
		return p.listSweep(sweep)
	}
	if sweep.kind != broken {
		p.errs.add(sweep.pos, "sweep is %s, expected a mapping from load keys to lists, or a list of points", sweep.shown())
	}
	return nil, nil
}

func (p *parser) gridSweep(load, sweep *node) []sweepPoint {
	grid, _ := sweepBlocks()
	points := []sweepPoint{{pos: sweep.pos}}
	for _, ax := range sweep.pairs {
		if !slices.Contains(grid.names(), ax.key) {
			p.reader(nil).unknown(grid, ax)
			continue
		}
		if load.has(ax.key) {
			p.errs.add(load.keyAt(ax.key), "%s is given here and in sweep: give it once", ax.key)
		}
		if ax.value.kind != list || len(ax.value.items) == 0 {
			if ax.value.kind != broken {
				p.errs.add(ax.value.pos, "sweep.%s is %s, expected a list of values", ax.key, ax.value.shown())
			}
			continue
		}
		if len(points)*len(ax.value.items) > maxPoints {
			p.errs.add(ax.pos, "sweep makes more than %d points", maxPoints)
			return nil
		}
		var next []sweepPoint
		for _, pt := range points {
			for _, v := range ax.value.items {
				set := append(slices.Clone(pt.set), pair{ax.key, ax.pos, v})
				next = append(next, sweepPoint{set: set, pos: v.pos})
			}
		}
		points = next
	}
	return points
}

func (p *parser) listSweep(sweep *node) (points []sweepPoint, varies []string) {
	_, table := sweepBlocks()
	if len(sweep.items) > maxPoints {
		p.errs.add(sweep.pos, "sweep makes more than %d points", maxPoints)
		return nil, nil
	}
	for _, it := range sweep.items {
		if it.kind != mapping {
			p.reader(nil, "a point of sweep").wrong(it, simple(blockShape))
			continue
		}
		pt := sweepPoint{pos: it.pos}
		for _, pr := range it.pairs {
			switch {
			case !slices.Contains(table.names(), pr.key):
				p.reader(nil).unknown(table, pr)
			case pr.key == "label":
				pt.label, _ = p.reader(nil, "label").text(pr.value)
				if pr.value.kind != broken && !safeName.MatchString(pt.label) {
					p.errs.add(pr.value.pos, "%s", badName("label", pt.label))
				}
			default:
				pt.set = append(pt.set, pr)
				varies = append(varies, pr.key)
			}
		}
		points = append(points, pt)
	}
	return points, varies
}

// readLoad lays load: over its profile and decodes every point.
func (p *parser) readLoad(root *node, s *Scenario) {
	load := root.get("load")
	if load == nil || load.kind == null {
		load = emptyMapping(root.at("load"))
	}
	if load.kind != mapping {
		p.reader(nil, "load").wrong(load, simple(blockShape))
		return
	}
	load = (&scope{p: p}).expand(load)
	if load.kind != mapping {
		return
	}
	load, found := p.underlayProfile(load, s)
	load = p.searchedLoad(load, s)
	points, varies := p.expandSweep(load)
	base := load.without("sweep")
	if len(points) == 0 || !found {
		decode(p.reader(nil), loadBlock(), base, new(Load)) // for its errors
		return
	}
	labels := map[string]Pos{}
	defaults := map[string]string{}
	table := loadBlock()
	for _, pt := range points {
		n := overlay(base, &node{kind: mapping, pos: load.pos, pairs: pt.set, size: 1}, nil)
		l, sound := p.point(table, n, defaults, s)
		l.Label = label(l, varies)
		if pt.label != "" {
			l.Label = pt.label
		}
		if was, twice := labels[l.Label]; twice && sound {
			p.errs.add(pt.pos, "two points are named %q, the first in line %d", l.Label, was.Line)
		}
		if sound {
			labels[l.Label] = pt.pos
		}
		s.Points = append(s.Points, l)
	}
	expandSearch(s)
	for path, value := range defaults {
		p.defaults["load."+path] = value
	}
}

// point decodes and checks one point; sound tells that nothing was wrong.
func (p *parser) point(table block[Load], n *node, defaults map[string]string, s *Scenario) (l Load, sound bool) {
	r := p.reader(defaults)
	decode(r, table, n, &l)
	sound = !r.failed
	p.finishLoad(n, &l, defaults, s, sound)
	return l, sound
}

// label is made of what the sweep varies.
func label(l Load, varies []string) string {
	var parts []string
	for _, a := range axes() {
		if slices.Contains(varies, a.key) {
			parts = append(parts, a.short+a.value(l))
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, "-")
}

// underlayProfile lays the load: keys over those of the profile they name; ok
// is false where the profile cannot be had.
func (p *parser) underlayProfile(load *node, s *Scenario) (out *node, ok bool) {
	name := load.get("profile")
	if name == nil || name.kind == null {
		return load, true
	}
	key, ok := p.reader(nil, "profile").text(name)
	if !ok {
		return load, false
	}
	var src []byte
	found := false
	if p.opts.Profile != nil {
		src, found = p.opts.Profile(key)
	}
	if !found {
		p.errs.add(name.pos, "no profile is named %q%s", key, didYouMean(key, p.opts.Profiles))
		return load, false
	}
	s.Profile = key
	file := "profile " + key
	base := readTree(&p.errs, file, src, true)
	if base.kind != mapping {
		if base.kind != broken {
			p.errs.add(base.pos, "a profile is a mapping of load: keys, this is %s", base.shown())
		}
		return load, false
	}
	if base.get("profile") != nil {
		p.errs.add(base.keyAt("profile"), "a profile cannot name another profile")
	}
	base = (&scope{p: p}).expand(base.without("profile"))
	return overlay(base, load, loadOverlay()), true
}
