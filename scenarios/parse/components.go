package parse

import (
	"regexp"
	"slices"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/schema"
)

// maxComponents bounds what a variant may have.
const maxComponents = 64

// componentName is what may name a component: it stands in placeholders and logs.
var componentName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func componentsField() schema.Field[scenarios.Variant] {
	return schema.FreeKey("components", "The parts of a server that consists of several programs, such as prefill "+
		"servers, decode servers and a router: a list of mappings with a name and keys of server:. They are "+
		"started in this order and stopped in reverse; requests go to the last one. A component inherits the "+
		"variant's keys; one with another launcher inherits only model, served-name, api-key, work-dir, ready and "+
		"stop. In its command:, ${NAME.url} is repeated for each server of an earlier component, together with "+
		"the option before it; ${NAME.urls} lists all of them in one place (likewise host, port, address, "+
		"bootstrap-port).",
		schema.ListOf(schema.MapOf(schema.Simple(schema.AnyShape))),
		func(*schema.Reader, *schema.Node, *scenarios.Variant) {})
}

// componentBlock are the keys of a component beside its name.
func componentBlock() schema.Block[scenarios.Server] {
	block := serverBlock()
	block.Name = "in a component"
	return block
}

// carried are the keys that a component with another launcher has of its variant.
func carried() []string {
	return []string{"model", "served-name", "api-key", "work-dir", "ready", "stop"}
}

// readComponents reads the parts of a variant's server. The variant's own server
// keys are those that the parts share.
func (p *parser) readComponents(n *schema.Node, v *scenarios.Variant, defaults map[string]string,
	s *scenarios.Scenario,
) {
	list := n.Get("components")
	switch {
	case list.Kind != schema.List:
		p.errs.Add(list.Pos, "components is %s, expected a list of parts, each with a name", list.Shown())
		return
	case len(list.Items) < 2:
		p.errs.Add(list.Pos, "components has %d parts, expected at least two, of which the last takes the requests: "+
			"write the keys of a single server into the variant itself", len(list.Items))
		return
	case len(list.Items) > maxComponents:
		p.errs.Add(list.Pos, "more than %d components", maxComponents)
		return
	case s.Method == scenarios.LlamaBench:
		p.errs.Add(n.KeyAt("components"), "components cannot be combined with method llama-bench")
		return
	case v.Extrapolate > 1:
		p.errs.Add(n.KeyAt("extrapolate"), "extrapolate cannot be combined with components")
		return
	}

	places := map[string]schema.Pos{}
	for _, item := range list.Items {
		c, ok := p.component(n, item, places, defaults, s)
		if !ok {
			return
		}
		v.Components = append(v.Components, c)
	}
	v.Server = v.Components[0].Server
}

// component reads one part. Beside it comes whether it could be read.
func (p *parser) component(n, item *schema.Node, places map[string]schema.Pos, defaults map[string]string,
	s *scenarios.Scenario,
) (c scenarios.Component, ok bool) {
	if item.Kind != schema.Mapping {
		p.errs.Add(item.Pos, "a component is %s, expected a mapping with name: and keys of server:", item.Shown())
		return c, false
	}

	name := item.Get("name")
	if name == nil || name.Kind != schema.Text || !componentName.MatchString(name.Text) {
		p.errs.Add(item.At("name"), "a component needs a name of small letters, digits and dashes, a letter first")
		return c, false
	}
	if was, twice := places[name.Text]; twice {
		p.errs.Add(name.Pos, "component name %q is used twice, first in line %d", name.Text, was.Line)
		return c, false
	}
	places[name.Text], c.Name = name.Pos, name.Text

	own := item.Without("name")
	own = expand.Overlay(sharedBy(n, own), own, expand.ServerOverlay())
	own.Pos = item.Pos
	mine := map[string]string{}
	schema.Decode(p.reader(mine), componentBlock(), own, &c.Server)
	p.finishServer(own, &c.Server, mine, s)
	for path, value := range mine {
		defaults["components."+c.Name+"."+path] = value
	}

	switch {
	case c.Server.Kind().External:
		p.errs.Add(item.At("launcher"), "component %s: an external server is no part of a server that bench starts",
			c.Name)
	case c.Server.Nodes > 1:
		p.errs.Add(own.KeyAt("nodes"), "component %s: nodes cannot be combined with components", c.Name)
	}
	return c, true
}

// sharedBy are the keys of a variant that a component with these keys has, too.
func sharedBy(variant, own *schema.Node) *schema.Node {
	keys := serverBlock().Info().Names()
	if launcher := own.Get("launcher"); launcher != nil && launcher.PlainText() != plainText(variant.Get("launcher")) {
		keys = carried()
	}

	out := *variant
	out.Pairs = slices.DeleteFunc(slices.Clone(variant.Pairs), func(pair schema.Pair) bool {
		return !slices.Contains(keys, pair.Key)
	})
	return &out
}

func plainText(n *schema.Node) string {
	if n == nil {
		return ""
	}
	return n.PlainText()
}
