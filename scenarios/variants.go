package scenarios

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/schema"
)

// rawVariant is one variant before its names are filled in.
type rawVariant struct {
	node   *schema.Node
	params map[string]*schema.Node
	order  []string // of params
}

// launchNames are filled in by the launcher, in command: only.
func launchNames() []string { return []string{"host", "port", "model"} }

// readVariants expands the matrix blocks and decodes every variant.
func (p *parser) readVariants(root *schema.Node, later []*override, s *Scenario) {
	shared := p.sharedServer(root)
	list := p.variantList(root)
	for _, v := range list {
		if m := v.Get("matrix"); m != nil {
			for _, axis := range m.Pairs {
				p.matrixNames[axis.Key] = true
			}
		}
	}
	table := variantBlock()
	all := map[string]map[string]string{} // defaults of each variant
	places := map[string]schema.Pos{}
	var names []string
	for _, v := range list {
		for _, raw := range p.expandMatrix(v) {
			if len(s.Variants) >= maxVariants {
				p.errs.Add(v.Pos, "more than %d variants", maxVariants)
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
			places[variant.Name] = v.Pos
		}
	}
	p.reportUnused(later, names)
	p.variantDefaults(all)
}

func (p *parser) duplicateName(v Variant, was schema.Pos, raw rawVariant) {
	if was == v.Pos && len(raw.order) > 0 {
		p.errs.Add(raw.node.At("name"), "matrix makes several variants named %q: put ${%s} into the name", v.Name, raw.order[len(raw.order)-1])
		return
	}
	p.errs.Add(raw.node.At("name"), "variant name %q is used twice, first in line %d", v.Name, was.Line)
}

func (p *parser) sharedServer(root *schema.Node) *schema.Node {
	shared := root.Get("server")
	if shared == nil || shared.Kind == schema.Null {
		return schema.EmptyMapping(root.At("server"))
	}
	if shared.Kind != schema.Mapping {
		p.reader(nil, "server").Wrong(shared, schema.Simple(schema.BlockShape))
		p.serverBroken = true
		return schema.EmptyMapping(shared.Pos)
	}
	table := serverBlock().Info()
	var strange []string
	for _, pr := range shared.Pairs {
		if !slices.Contains(table.Names(), pr.Key) {
			p.reader(nil, "server").Unknown(table, pr)
			strange = append(strange, pr.Key)
		}
	}
	return shared.Without(strange...)
}

// variantList gives the mappings under variants:, or the one that stands for
// server: alone.
func (p *parser) variantList(root *schema.Node) []*schema.Node {
	v := root.Get("variants")
	if v == nil || v.Kind == schema.Null {
		p.defaults["variants"] = "[{name: default}]"
		one := schema.EmptyMapping(root.At("server"))
		name := &schema.Node{Kind: schema.Text, Text: "default", Pos: one.Pos, Size: 1}
		one.Pairs = []schema.Pair{{Key: "name", Pos: one.Pos, Value: name}}
		return []*schema.Node{one}
	}
	if v.Kind != schema.List || len(v.Items) == 0 {
		p.reader(nil, "variants").Wrong(v, schema.ListOf(schema.Simple(schema.BlockShape)))
		return nil
	}
	var out []*schema.Node
	for _, it := range v.Items {
		if it.Kind == schema.Mapping {
			out = append(out, it)
		} else {
			p.reader(nil, "a variant").Wrong(it, schema.Simple(schema.BlockShape))
		}
	}
	return out
}

// variant fills in the names, lays the variant over the shared keys and
// decodes it.
func (p *parser) variant(table schema.Block[Variant], raw rawVariant, shared *schema.Node, later []*override, s *Scenario) (Variant, map[string]string) {
	v := Variant{Pos: raw.node.Pos}
	sc := &scope{p: p, params: raw.params}
	own := raw.node.Without("matrix", "exclude")
	if name := own.Get("name"); name != nil && name.Kind == schema.Text {
		expanded := sc.expand(name).Text
		for _, o := range later {
			own = p.lateOverride(o, own, expanded)
		}
	}
	n := overlay(p.expandServer(sc, shared), p.expandServer(sc, own), serverOverlay())
	if n.Kind != schema.Mapping {
		return v, nil
	}
	n.Pos = raw.node.Pos
	defaults := map[string]string{}
	schema.Decode(p.reader(defaults), table, n, &v)
	if name := n.Get("name"); name != nil && name.Kind == schema.Text && !safeName.MatchString(v.Name) {
		p.errs.Add(name.Pos, "%s", badName("name", v.Name))
	}
	v.Params = p.params(raw)
	p.finishServer(n, &v.Server, defaults, s)
	p.noteSecretTexts(n.Get("hooks"))
	p.finishHooks(n.Get("hooks"), "hooks", &v.Hooks, defaults, s)
	return v, defaults
}

// lateOverride applies a --set that names an expanded variant.
func (p *parser) lateOverride(o *override, own *schema.Node, name string) *schema.Node {
	if !strings.HasPrefix(strings.Join(o.path[1:], ".")+".", name+".") {
		return own
	}
	own = own.Clone()
	o.applyNamed(&p.errs, own, name)
	return own
}

// expandServer fills in names; those of the launch stay in command:.
func (p *parser) expandServer(sc *scope, n *schema.Node) *schema.Node {
	out := sc.expand(n.Without("command"))
	command := n.Get("command")
	if command == nil || out.Kind != schema.Mapping {
		return out
	}
	keep := *sc
	keep.keep = launchNames()
	c := *out
	c.Pairs = append(slices.Clone(out.Pairs), schema.Pair{Key: "command", Pos: n.KeyAt("command"), Value: keep.expand(command)})
	return &c
}

func (p *parser) params(raw rawVariant) map[string]string {
	if len(raw.order) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, name := range raw.order {
		raw.params[name].Flatten(name, func(path string, n *schema.Node) {
			out[path] = n.PlainText()
			if n.Secret {
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
