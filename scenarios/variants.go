package scenarios

import (
	"slices"
	"strings"
)

// rawVariant is one variant before its names are filled in.
type rawVariant struct {
	node   *node
	params map[string]*node
	order  []string // of params
}

// launchNames are filled in by the launcher, in command: only.
func launchNames() []string { return []string{"host", "port", "model"} }

// readVariants expands the matrix blocks and decodes every variant.
func (p *parser) readVariants(root *node, later []*override, s *Scenario) {
	shared := p.sharedServer(root)
	list := p.variantList(root)
	for _, v := range list {
		if m := v.get("matrix"); m != nil {
			for _, axis := range m.pairs {
				p.matrixNames[axis.key] = true
			}
		}
	}
	table := variantBlock()
	all := map[string]map[string]string{} // defaults of each variant
	places := map[string]Pos{}
	var names []string
	for _, v := range list {
		for _, raw := range p.expandMatrix(v) {
			if len(s.Variants) >= maxVariants {
				p.errs.add(v.pos, "more than %d variants", maxVariants)
				return
			}
			variant, defaults := p.variant(table, raw, shared, later, s)
			names = append(names, variant.Name)
			s.variantHooks += len(variant.Hooks.Before) + len(variant.Hooks.After)
			s.Variants = append(s.Variants, variant)
			all[variant.Name] = defaults
			if was, twice := places[variant.Name]; twice && variant.Name != "" {
				p.duplicateName(variant, was, raw)
			}
			places[variant.Name] = v.pos
		}
	}
	p.reportUnused(later, names)
	p.variantDefaults(all)
}

func (p *parser) duplicateName(v Variant, was Pos, raw rawVariant) {
	if was == v.Pos && len(raw.order) > 0 {
		p.errs.add(raw.node.at("name"), "matrix makes several variants named %q: put ${%s} into the name", v.Name, raw.order[len(raw.order)-1])
		return
	}
	p.errs.add(raw.node.at("name"), "variant name %q is used twice, first in line %d", v.Name, was.Line)
}

func (p *parser) sharedServer(root *node) *node {
	shared := root.get("server")
	if shared == nil || shared.kind == null {
		return emptyMapping(root.at("server"))
	}
	if shared.kind != mapping {
		p.reader(nil, "server").wrong(shared, simple(blockShape))
		p.serverBroken = true
		return emptyMapping(shared.pos)
	}
	table := serverBlock().info()
	var strange []string
	for _, pr := range shared.pairs {
		if !slices.Contains(table.names(), pr.key) {
			p.reader(nil, "server").unknown(table, pr)
			strange = append(strange, pr.key)
		}
	}
	return shared.without(strange...)
}

// variantList gives the mappings under variants:, or the one that stands for
// server: alone.
func (p *parser) variantList(root *node) []*node {
	v := root.get("variants")
	if v == nil || v.kind == null {
		p.defaults["variants"] = "[{name: default}]"
		one := emptyMapping(root.at("server"))
		one.pairs = []pair{{"name", one.pos, &node{kind: text, text: "default", pos: one.pos, size: 1}}}
		return []*node{one}
	}
	if v.kind != list || len(v.items) == 0 {
		p.reader(nil, "variants").wrong(v, listOf(simple(blockShape)))
		return nil
	}
	var out []*node
	for _, it := range v.items {
		if it.kind == mapping {
			out = append(out, it)
		} else {
			p.reader(nil, "a variant").wrong(it, simple(blockShape))
		}
	}
	return out
}

// variant fills in the names, lays the variant over the shared keys and
// decodes it.
func (p *parser) variant(table block[Variant], raw rawVariant, shared *node, later []*override, s *Scenario) (Variant, map[string]string) {
	v := Variant{Pos: raw.node.pos}
	sc := &scope{p: p, params: raw.params}
	own := raw.node.without("matrix", "exclude")
	if name := own.get("name"); name != nil && name.kind == text {
		expanded := sc.expand(name).text
		for _, o := range later {
			own = p.lateOverride(o, own, expanded)
		}
	}
	n := overlay(p.expandServer(sc, shared), p.expandServer(sc, own), serverOverlay())
	if n.kind != mapping {
		return v, nil
	}
	n.pos = raw.node.pos
	defaults := map[string]string{}
	decode(p.reader(defaults), table, n, &v)
	if name := n.get("name"); name != nil && name.kind == text && !safeName.MatchString(v.Name) {
		p.errs.add(name.pos, "%s", badName("name", v.Name))
	}
	v.Params = p.params(raw)
	p.finishServer(n, &v.Server, defaults, s)
	p.noteSecretTexts(n.get("hooks"))
	p.finishHooks(n.get("hooks"), "hooks", &v.Hooks, defaults, s)
	return v, defaults
}

// lateOverride applies a --set that names an expanded variant.
func (p *parser) lateOverride(o *override, own *node, name string) *node {
	if !strings.HasPrefix(strings.Join(o.path[1:], ".")+".", name+".") {
		return own
	}
	own = own.clone()
	o.applyNamed(&p.errs, own, name)
	return own
}

// clone copies all mappings in n, so that they may be changed.
func (n *node) clone() *node {
	c := *n
	c.pairs = slices.Clone(n.pairs)
	for i := range c.pairs {
		c.pairs[i].value = c.pairs[i].value.clone()
	}
	return &c
}

// expandServer fills in names; those of the launch stay in command:.
func (p *parser) expandServer(sc *scope, n *node) *node {
	out := sc.expand(n.without("command"))
	command := n.get("command")
	if command == nil || out.kind != mapping {
		return out
	}
	keep := *sc
	keep.keep = launchNames()
	c := *out
	c.pairs = append(slices.Clone(out.pairs), pair{"command", n.keyAt("command"), keep.expand(command)})
	return &c
}

func (p *parser) params(raw rawVariant) map[string]string {
	if len(raw.order) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, name := range raw.order {
		raw.params[name].flatten(name, func(path string, n *node) {
			out[path] = n.plainText()
			if n.secret {
				out[path] = hidden
			}
		})
	}
	return out
}

// variantDefaults records the defaults of the variants: once as server.KEY
// where every variant has it, else one by one.
func (p *parser) variantDefaults(all map[string]map[string]string) {
	type entry struct{ path, value string }
	count := map[entry]int{}
	for _, defaults := range all {
		for path, value := range defaults {
			count[entry{path, value}]++
		}
	}
	for name, defaults := range all {
		for path, value := range defaults {
			if count[entry{path, value}] == len(all) {
				p.defaults["server."+path] = value
			} else {
				p.defaults["variants."+name+"."+path] = value
			}
		}
	}
}
