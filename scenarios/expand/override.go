package expand

import (
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Override is one --set.
type Override struct {
	text string // as given
	path []string
	pos  schema.Pos
	node *schema.Node
	used bool
}

// ReadOverrides reads the --set texts.
func ReadOverrides(errs *schema.Collector, texts []string) []*Override {
	var out []*Override
	for _, s := range texts {
		pos := schema.Pos{File: "--set " + s}
		path, value, ok := strings.Cut(s, "=")
		path = strings.TrimSpace(path)
		if !ok || path == "" || strings.Contains("."+path+".", "..") {
			errs.Add(pos, "write --set path.to.key=value")
			continue
		}
		if secrets.IsName(path) {
			pos.File = "--set " + path + "=" + scenarios.Hidden
		}
		n := schema.ReadTree(errs, pos.File, []byte(value), false)
		out = append(out, &Override{text: s, path: strings.Split(path, "."), pos: pos, node: n})
	}
	return out
}

// Apply puts the overrides into the file's tree. Those of expanded variants
// come back, to be applied when their variant is made.
func (v *Names) Apply(root *schema.Node, sets []*Override) []*Override {
	var later []*Override
	for _, o := range sets {
		switch {
		case o.path[0] == "variants" && len(o.path) > 1:
			if !o.applyToVariant(v.errs, root) {
				later = append(later, o)
			}
		default:
			if o.path[0] == "vars" && len(o.path) == 2 && root.Get("vars").LookupKey(o.path[1]) == nil {
				v.onlySet[o.path[1]] = o.pos
			}
			o.put(v.errs, root, o.path)
		}
	}
	return later
}

// applyToVariant applies an override to the variant of the file whose name, as
// written, starts the path; names may contain dots.
func (o *Override) applyToVariant(errs *schema.Collector, root *schema.Node) bool {
	variants := root.Get("variants")
	if variants == nil {
		return false
	}
	for _, v := range variants.Items {
		if name := v.Get("name"); name != nil && o.applyNamed(errs, v, name.Text) {
			return true
		}
	}
	return false
}

// applyNamed applies the override to a variant if the path names it.
func (o *Override) applyNamed(errs *schema.Collector, variant *schema.Node, name string) bool {
	rest, ok := strings.CutPrefix(strings.Join(o.path[1:], "."), name+".")
	if !ok || name == "" {
		return false
	}
	o.used = true
	o.put(errs, variant, strings.Split(rest, "."))
	return true
}

// put sets the value at path beneath n and makes the mappings on the way.
func (o *Override) put(errs *schema.Collector, n *schema.Node, path []string) {
	for i, key := range path {
		last := i == len(path)-1
		at := n.Index(key)
		if i > 0 && path[i-1] == "args" {
			at = argIndex(n, key)
		}
		if last {
			if at >= 0 {
				n.Pairs[at].Value = o.node
			} else {
				n.Pairs = append(n.Pairs, schema.Pair{Key: key, Pos: o.pos, Value: o.node})
			}
			return
		}
		if at < 0 {
			at = len(n.Pairs)
			n.Pairs = append(n.Pairs, schema.Pair{Key: key, Pos: o.pos, Value: schema.EmptyMapping(o.pos)})
		}
		sub := n.Pairs[at].Value
		if sub.Kind == schema.Null {
			sub = schema.EmptyMapping(o.pos)
			n.Pairs[at].Value = sub
		}
		if sub.Kind != schema.Mapping {
			if sub.Kind != schema.Broken {
				errs.Add(o.pos, "%s is %s, which has no keys: set it as a whole", strings.Join(path[:i+1], "."), sub.Shown())
			}
			return
		}
		n = sub
	}
}

// ReportUnused reports overrides that no variant took.
func ReportUnused(errs *schema.Collector, later []*Override, variants []string) {
	for _, o := range later {
		if o.used {
			continue
		}
		rest := strings.Join(o.path[1:], ".")
		first, _, more := strings.Cut(rest, ".")
		if !more {
			errs.Add(o.pos, "write --set variants.NAME.KEY=VALUE")
			continue
		}
		errs.Add(o.pos, "no variant is named %q%s", first, schema.DidYouMean(first, variants))
	}
}
