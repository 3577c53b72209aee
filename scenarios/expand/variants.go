package expand

import (
	"slices"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// maxVariants bounds what the matrices of a file may make.
const maxVariants = 2000

// rawVariant is one variant before its names are filled in.
type rawVariant struct {
	node   *schema.Node
	params map[string]*schema.Node
	order  []string // of params
}

// ExpandedVariant is one variant of a file, one for each combination of its
// matrix, with its names filled in and laid over the shared keys.
type ExpandedVariant struct {
	Node    *schema.Node      // of kind Mapping; nil where it could not be made
	Pos     schema.Pos        // of the entry in variants:
	NamePos schema.Pos        // of its name
	Params  map[string]string // matrix values as text; nil without a matrix
	LastKey string            // the fastest varying name of its matrix; "" without
}

// Name is the variant's name; "" where it has none.
func (v ExpandedVariant) Name() string {
	if name := v.Node.LookupKey("name"); name != nil {
		return name.Text
	}
	return ""
}

// launchNames are filled in by the launcher, in command: only.
func launchNames() []string { return []string{"host", "port", "model"} }

// ExpandVariants makes every variant of the file. later are the overrides of
// expanded variants; shared is the server: block.
func (ns *Names) ExpandVariants(list []*schema.Node, shared *schema.Node, later []*Override) []ExpandedVariant {
	for _, v := range list {
		if m := v.Get("matrix"); m != nil {
			for _, axis := range m.Pairs {
				ns.ofMatrix[axis.Key] = true
			}
		}
	}

	var out []ExpandedVariant
	for _, v := range list {
		for _, raw := range ns.expandMatrix(v) {
			if len(out) >= maxVariants {
				ns.errs.Add(v.Pos, "more than %d variants", maxVariants)
				return out
			}
			out = append(out, ns.expandVariant(raw, shared, later))
		}
	}

	return out
}

func (ns *Names) expandVariant(raw rawVariant, shared *schema.Node, later []*Override) ExpandedVariant {
	out := ExpandedVariant{Pos: raw.node.Pos, NamePos: raw.node.At("name")}
	if n := len(raw.order); n > 0 {
		out.LastKey = raw.order[n-1]
	}

	sc := &scope{names: ns, params: raw.params}
	own := raw.node.Without("matrix", "exclude")
	if name := own.Get("name"); name != nil && name.Kind == schema.Text {
		expanded := sc.Expand(name).Text
		for _, o := range later {
			own = o.late(ns.errs, own, expanded)
		}
	}

	n := Overlay(sc.server(shared), sc.server(own), ServerOverlay())
	if n.Kind != schema.Mapping {
		return out
	}

	n.Pos = raw.node.Pos
	out.Node, out.Params = n, raw.texts()

	return out
}

// late applies an override that names an expanded variant.
func (o *Override) late(errs *schema.Collector, own *schema.Node, name string) *schema.Node {
	if _, ok := o.keysOf(name); !ok {
		return own
	}
	own = own.Clone()
	o.applyNamed(errs, own, name)

	return own
}

// server fills in the names of a server's keys; those of the launch, and others,
// stay in command:.
func (s *scope) server(n *schema.Node, others ...string) *schema.Node {
	components := n.Get("components")
	out := s.Expand(n.Without("command", "components"))
	if out.Kind != schema.Mapping {
		return out
	}

	c := *out
	c.Pairs = slices.Clone(out.Pairs)
	if command := n.Get("command"); command != nil {
		keep := *s
		keep.keep = append(launchNames(), others...)
		command = keep.Expand(command)
		c.Pairs = append(c.Pairs, schema.Pair{Key: "command", Pos: n.KeyAt("command"), Value: command})
	}
	if components != nil {
		value := s.components(components)
		c.Pairs = append(c.Pairs, schema.Pair{Key: "components", Pos: n.KeyAt("components"), Value: value})
	}

	return &c
}

// components fills in the names of a variant's components; each may say in its
// command: where the others are.
func (s *scope) components(list *schema.Node) *schema.Node {
	if list.Kind != schema.List {
		return s.Expand(list)
	}

	var places []string
	for _, item := range list.Items {
		if name := item.Get("name"); name != nil {
			for _, field := range scenarios.PeerFields() {
				places = append(places, name.Text+"."+field)
			}
		}
	}

	out := *list
	out.Items = nil
	for _, item := range list.Items {
		out.Items = append(out.Items, s.server(item, places...))
	}

	return &out
}

// texts are the matrix values of the variant as text, secrets hidden.
func (raw rawVariant) texts() map[string]string {
	if len(raw.order) == 0 {
		return nil
	}

	out := map[string]string{}
	for _, name := range raw.order {
		raw.params[name].Flatten(name, func(path string, n *schema.Node) {
			out[path] = n.PlainText()
			if n.Secret {
				out[path] = scenarios.Hidden
			}
		})
	}

	return out
}
