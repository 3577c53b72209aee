package parse

import (
	"slices"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// readVariants expands the matrix blocks and decodes every variant.
func (p *parser) readVariants(root *schema.Node, later []*expand.Override, s *scenarios.Scenario) {
	shared := p.sharedServer(root)
	table := keys.Variant()
	defaults := map[string]map[string]string{} // of each variant
	places := map[string]schema.Pos{}
	var variants []string

	expanded := p.names.ExpandVariants(p.variantList(root), shared, later)
	for _, ev := range expanded {
		variants = append(variants, ev.Name())
	}
	for _, ev := range p.mixed(root, expanded, s) {
		v, own := p.variant(table, ev)
		s.Variants = append(s.Variants, v)
		defaults[v.Name] = own

		if was, twice := places[v.Name]; twice && v.Name != "" {
			p.duplicateName(v, was, ev)
		}
		places[v.Name] = ev.Pos
	}

	expand.ReportUnused(&p.errs, later, variants)
	p.variantDefaults(defaults)
}

func (p *parser) duplicateName(v scenarios.Variant, was schema.Pos, ev expand.ExpandedVariant) {
	if was == v.Pos && ev.LastKey != "" {
		p.errs.Add(ev.NamePos, "matrix makes several variants named %q: put ${%s} into the name", v.Name, ev.LastKey)
		return
	}
	p.errs.Add(ev.NamePos, "variant name %q is used twice, first in line %d", v.Name, was.Line)
}

func (p *parser) sharedServer(root *schema.Node) *schema.Node {
	shared := root.Get("server")
	if shared == nil || shared.Kind == schema.Null {
		return schema.EmptyMapping(root.At("server"))
	}
	if shared.Kind != schema.Mapping {
		p.reader(nil, "server").Wrong(shared, schema.Simple(schema.BlockShape))
		p.file.ServerBroken = true
		return schema.EmptyMapping(shared.Pos)
	}

	table := keys.Server().Info()
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

// variant decodes one variant and checks it. Beside it come its defaults.
func (p *parser) variant(table schema.Block[scenarios.Variant], ev expand.ExpandedVariant,
) (scenarios.Variant, map[string]string) {
	v := scenarios.Variant{Pos: ev.Pos}
	n := ev.Node
	if n == nil {
		return v, nil
	}

	defaults := map[string]string{}
	schema.Decode(p.reader(defaults), table, n, &v)
	if name := n.Get("name"); name != nil && name.Kind == schema.Text {
		p.file.Name(name.Pos, "name", v.Name)
	}

	v.Params = ev.Params
	if n.Has("components") {
		clear(defaults) // each component has its own
		p.readComponents(n, &v, defaults)
	} else {
		check.Server(p.file, n, &v.Server, defaults)
	}
	p.file.SecretTexts(n.Get("hooks"))
	check.Hooks(p.file, n.Get("hooks"), &v.Hooks, defaults)

	return v, defaults
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
