package parse

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

const (
	maxComponents = 64  // of a variant
	maxNodes      = 256 // of a job
)

// componentName is what may name a component: it is in placeholders and logs.
var componentName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// componentBlock are the keys of a component besides its name.
func componentBlock() schema.Block[scenarios.Server] {
	block := keys.Server()
	block.Name = "in a component"
	return block
}

// carried are the keys that a component with another launcher has of its variant.
func carried() []string {
	return []string{"model", "served-name", "api-key", "work-dir", "ready", "stop", "interface"}
}

// readComponents reads the parts of a variant's server. The variant's own server
// keys are those that the parts share.
func (p *parser) readComponents(n *schema.Node, v *scenarios.Variant, defaults map[string]string) {
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
	case !p.file.Scenario.Method.SendsRequests():
		p.errs.Add(n.KeyAt("components"), "components cannot be combined with method %s",
			p.file.Scenario.Method)
		return
	case v.Extrapolate > 1:
		p.errs.Add(n.KeyAt("extrapolate"), "extrapolate cannot be combined with components")
		return
	}

	places := map[string]schema.Pos{}
	for _, item := range list.Items {
		c, ok := p.component(n, item, places, defaults)
		if !ok {
			return
		}
		v.Components = append(v.Components, c)
	}
	v.Nodes = v.Server.Nodes
	v.Server = v.Components[0].Server
	check.Components(p.file, n, v)
}

// component reads one part. Beside it comes whether it could be read.
func (p *parser) component(n, item *schema.Node, places map[string]schema.Pos, defaults map[string]string,
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

	c.Node, ok = p.componentNode(item)
	own := item.Without("name", "node")
	own = expand.Overlay(sharedBy(n, own), own, expand.ServerOverlay())
	own.Pos = item.Pos
	mine := map[string]string{}
	schema.Decode(p.reader(mine), componentBlock(), own, &c.Server)
	check.Server(p.file, own, &c.Server, mine)
	for path, value := range mine {
		defaults["components."+c.Name+"."+path] = value
	}

	switch {
	case c.Server.Kind().External:
		p.errs.Add(item.At("launcher"), "component %s: an external server cannot be part of a server that bench starts",
			c.Name)
	case c.Server.Nodes > 1:
		p.errs.Add(own.KeyAt("nodes"), "component %s: a component runs on one node: nodes: belongs to the variant, "+
			"and node: to the component", c.Name)
	}
	return c, ok
}

// componentNode reads node: of a component; 0: there is none.
func (p *parser) componentNode(item *schema.Node) (node int, ok bool) {
	n := item.Get("node")
	if n == nil || n.Kind == schema.Null {
		return 0, true
	}
	node, err := strconv.Atoi(n.PlainText())
	if err != nil || node < 1 || node > maxNodes {
		p.errs.Add(n.Pos, "node is %s, expected the number of a node of the job, counted from 1, at most %d", n.Shown(),
			maxNodes)
		return 0, false
	}
	return node, true
}

// sharedBy are the keys of a variant that a component with these keys has, too.
func sharedBy(variant, own *schema.Node) *schema.Node {
	keys := keys.Server().Info().Names()
	if launcher := own.Get("launcher"); launcher != nil && launcher.PlainText() != plainText(variant.Get("launcher")) {
		keys = carried()
	}

	out := *variant
	out.Pairs = slices.DeleteFunc(slices.Clone(variant.Pairs), func(pair schema.Pair) bool {
		return !slices.Contains(keys, pair.Key) || pair.Key == "nodes" // of the job, not of a component
	})
	return &out
}

func plainText(n *schema.Node) string {
	if n == nil {
		return ""
	}
	return n.PlainText()
}
