package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// sweepPoint is what one point sets.
type sweepPoint struct {
	set   []schema.Pair
	label string
	pos   schema.Pos
}

// expandSweep lists the points of sweep:, and the keys that it varies.
func (p *parser) expandSweep(load *schema.Node) (points []sweepPoint, varies []string) {
	sweep := load.Get("sweep")
	if sweep == nil || sweep.Kind == schema.Null {
		return []sweepPoint{{pos: load.Pos}}, nil
	}

	switch {
	case sweep.Kind == schema.Mapping && len(sweep.Pairs) > 0:
		return p.gridSweep(load, sweep), sweep.Keys()
	case sweep.Kind == schema.List && len(sweep.Items) > 0:
		return p.listSweep(sweep)
	}

	if sweep.Kind != schema.Broken {
		p.errs.Add(sweep.Pos, "sweep is %s, expected a mapping from load keys to lists, or a list of points",
			sweep.Shown())
	}

	return nil, nil
}

func (p *parser) gridSweep(load, sweep *schema.Node) []sweepPoint {
	grid, _ := keys.Sweep()
	points := []sweepPoint{{pos: sweep.Pos}}
	for _, ax := range sweep.Pairs {
		if !slices.Contains(grid.Names(), ax.Key) {
			p.reader(nil).Unknown(grid, ax)
			continue
		}
		if load.Has(ax.Key) {
			p.errs.Add(load.KeyAt(ax.Key), "%s is given here and in sweep: give it once", ax.Key)
		}
		if ax.Value.Kind != schema.List || len(ax.Value.Items) == 0 {
			if ax.Value.Kind != schema.Broken {
				p.errs.Add(ax.Value.Pos, "sweep.%s is %s, expected a list of values", ax.Key, ax.Value.Shown())
			}
			continue
		}
		if len(points)*len(ax.Value.Items) > maxPoints {
			p.errs.Add(ax.Pos, "sweep makes more than %d points", maxPoints)
			return nil
		}
		var next []sweepPoint
		for _, pt := range points {
			for _, v := range ax.Value.Items {
				set := append(slices.Clone(pt.set), schema.Pair{Key: ax.Key, Pos: ax.Pos, Value: v})
				next = append(next, sweepPoint{set: set, pos: v.Pos})
			}
		}
		points = next
	}

	return points
}

func (p *parser) listSweep(sweep *schema.Node) (points []sweepPoint, varies []string) {
	_, table := keys.Sweep()
	if len(sweep.Items) > maxPoints {
		p.errs.Add(sweep.Pos, "sweep makes more than %d points", maxPoints)
		return nil, nil
	}

	for _, it := range sweep.Items {
		if it.Kind != schema.Mapping {
			p.reader(nil, "a point of sweep").Wrong(it, schema.Simple(schema.BlockShape))
			continue
		}
		pt := sweepPoint{pos: it.Pos}
		for _, pr := range it.Pairs {
			switch {
			case !slices.Contains(table.Names(), pr.Key):
				p.reader(nil).Unknown(table, pr)
			case pr.Key == "label":
				pt.label, _ = p.reader(nil, "label").Text(pr.Value)
				if pr.Value.Kind != schema.Broken {
					p.file.Name(pr.Value.Pos, "label", pt.label)
				}
			default:
				pt.set = append(pt.set, pr)
				varies = append(varies, pr.Key)
			}
		}
		points = append(points, pt)
	}

	return points, varies
}

// readPoints sets what steps of the method measure: the points of load:, or those of
// a method that sends no requests.
func (p *parser) readPoints(root *schema.Node, s *scenarios.Scenario) {
	switch {
	case s.RunsProgram():
		s.Points = []scenarios.Load{{Label: "all"}}
	case s.Method == scenarios.ColdStart:
		s.Points = s.ColdStart.Points()
	default:
		p.readLoad(root, s)
	}
}

// readLoad lays load: over its profile and decodes every point.
func (p *parser) readLoad(root *schema.Node, s *scenarios.Scenario) {
	load := root.Get("load")
	if load == nil || load.Kind == schema.Null {
		load = schema.EmptyMapping(root.At("load"))
	}
	if load.Kind != schema.Mapping {
		p.reader(nil, "load").Wrong(load, schema.Simple(schema.BlockShape))
		return
	}

	load = p.names.Outside().Expand(load)
	if load.Kind != schema.Mapping {
		return
	}

	load, found := p.underlayProfile(load)
	load = p.searchedLoad(load, s)
	points, varies := p.expandSweep(load)
	base := load.Without("sweep")
	if len(points) == 0 || !found {
		schema.Decode(p.loadReader(nil), keys.Load(), base, new(scenarios.Load)) // for its errors
		return
	}

	labels := map[string]schema.Pos{}
	defaults := map[string]string{}
	table := keys.Load()
	for _, pt := range points {
		n := expand.Overlay(base, &schema.Node{Kind: schema.Mapping, Pos: load.Pos, Pairs: pt.set, Size: 1}, nil)
		l, valid := p.point(table, n, defaults)
		l.Label = label(l, varies)
		if pt.label != "" {
			l.Label = pt.label
		}
		if was, twice := labels[l.Label]; twice && valid {
			p.errs.Add(pt.pos, "two points are named %q, the first in line %d", l.Label, was.Line)
		}
		if valid {
			labels[l.Label] = pt.pos
		}
		s.Points = append(s.Points, l)
	}

	expandSearch(s)
	for path, value := range defaults {
		p.defaults["load."+path] = value
	}
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

// point decodes and checks one point; valid says that nothing was wrong.
func (p *parser) point(table schema.Block[scenarios.Load], n *schema.Node, defaults map[string]string,
) (l scenarios.Load, valid bool) {
	r := p.loadReader(defaults)
	schema.Decode(r, table, n, &l)
	valid = !r.Failed
	valid = valid && p.readClasses(n, &l) && check.Stages(p.file, n, &l)
	check.Load(p.file, n, &l, defaults, valid)
	return l, valid
}

// loadReader reads load, in which some keys may be swept.
func (p *parser) loadReader(defaults map[string]string) *schema.Reader {
	grid, _ := keys.Sweep()
	r := p.reader(defaults)
	r.Swept = grid.Names()
	return r
}

// label is made of what the sweep varies.
func label(l scenarios.Load, varies []string) string {
	var parts []string
	for _, a := range keys.Axes() {
		if slices.Contains(varies, a.Key) {
			parts = append(parts, a.Short+a.Value(l))
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, "-")
}

// underlayProfile lays the load: keys over those of the profile they name; ok
// is false where the profile is not available.
func (p *parser) underlayProfile(load *schema.Node) (out *schema.Node, ok bool) {
	name := load.Get("profile")
	if name == nil || name.Kind == schema.Null {
		return load, true
	}

	key, ok := p.reader(nil, "profile").Text(name)
	if !ok {
		return load, false
	}

	var src []byte
	found := false
	if p.opts.Profile != nil {
		src, found = p.opts.Profile(key)
	}
	if !found {
		p.errs.Add(name.Pos, "no profile is named %q%s", key, schema.DidYouMean(key, p.opts.Profiles))
		return load, false
	}

	file := "profile " + key
	base := schema.ReadTree(&p.errs, file, src, true)
	if base.Kind != schema.Mapping {
		if base.Kind != schema.Broken {
			p.errs.Add(base.Pos, "a profile is a mapping of load: keys, this is %s", base.Shown())
		}
		return load, false
	}

	if base.Get("profile") != nil {
		p.errs.Add(base.KeyAt("profile"), "a profile cannot name another profile")
	}

	base = p.names.Outside().Expand(base.Without("profile"))
	return expand.Overlay(base, load, expand.LoadOverlay()), true
}
