package expand

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Override is one --set.
type Override struct {
	path []string
	pos  schema.Pos
	node *schema.Node
	used bool

	variantKeys []string // keys that a variant may have
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
		out = append(out, &Override{path: strings.Split(path, "."), pos: pos, node: n})
	}

	return out
}

// Apply puts the overrides into the file's tree. Those of expanded variants
// come back, to be applied when their variant is made. variantKeys are the keys
// that a variant may have: they tell where a name that holds dots ends.
func (v *Names) Apply(root *schema.Node, sets []*Override, variantKeys []string) []*Override {
	var later []*Override
	for _, o := range sets {
		if o.path[0] == "variants" && len(o.path) > 1 {
			o.variantKeys = variantKeys
			if !o.applyToVariant(v.errs, root) {
				later = append(later, o)
			}
			continue
		}

		if o.path[0] == "vars" && len(o.path) == 2 && root.Get("vars").LookupKey(o.path[1]) == nil {
			v.onlySet[o.path[1]] = o.pos
		}
		o.put(v.errs, root, o.path)
	}

	return later
}

// applyToVariant applies an override to the variant of the file whose name, as
// written, starts the path.
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
	path, ok := o.keysOf(name)
	if !ok || !slices.Contains(o.variantKeys, path[0]) {
		return false
	}
	o.used = true
	o.put(errs, variant, path)

	return true
}

// keysOf is the path below the variant of this name; false if the override is
// not about such a name. Names may hold dots: "variants.tp1.5.args.x" is about
// tp1.5, and about tp1 only as long as a variant has a key "5".
func (o *Override) keysOf(name string) ([]string, bool) {
	rest, ok := strings.CutPrefix(strings.Join(o.path[1:], "."), name+".")
	if !ok || name == "" {
		return nil, false
	}

	return strings.Split(rest, "."), true
}

// put sets the value at path beneath n and makes the mappings on the way.
func (o *Override) put(errs *schema.Collector, n *schema.Node, path []string) {
	for i := 0; i < len(path); {
		at, width := n.Index(path[i]), 1
		if i > 0 && (path[i-1] == "args" || path[i-1] == "sim-args") {
			at, width = findArg(n, path[i:])
		}
		key := strings.Join(path[i:i+width], ".")
		i += width

		if i == len(path) {
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
				errs.Add(o.pos, "%s is %s, which has no keys: set it as a whole", strings.Join(path[:i], "."),
					sub.Shown())
			}
			return
		}
		n = sub
	}
}

// findArg finds the argument that a path beneath args: is about, and how many
// parts of the path its name takes: a file may have "hf-overrides.rope_theta"
// as one key. The index is -1 where there is none yet; beside other dotted
// parts of the same argument, the whole path is then one name.
func findArg(args *schema.Node, path []string) (at, width int) {
	for width := len(path); width > 0; width-- {
		if at := argIndex(args, strings.Join(path[:width], ".")); at >= 0 {
			return at, width
		}
	}

	dotted := func(p schema.Pair) bool {
		return strings.HasPrefix(scenarios.ArgName(p.Key), scenarios.ArgName(path[0])+".")
	}
	if slices.ContainsFunc(args.Pairs, dotted) {
		return -1, len(path)
	}

	return -1, 1
}

// ReportUnused reports overrides that no variant took.
func ReportUnused(errs *schema.Collector, later []*Override, variants []string) {
	for _, o := range later {
		if o.used {
			continue
		}
		rest := strings.Join(o.path[1:], ".")
		first, _, more := strings.Cut(rest, ".")
		at := slices.IndexFunc(variants, func(name string) bool { _, ok := o.keysOf(name); return ok })
		switch {
		case !more || slices.Contains(variants, rest):
			errs.Add(o.pos, "write --set variants.NAME.KEY=VALUE")
		case at >= 0:
			path, _ := o.keysOf(variants[at])
			errs.Add(o.pos, "unknown key %q of variant %s%s", path[0], variants[at],
				schema.DidYouMean(path[0], o.variantKeys))
		default:
			errs.Add(o.pos, "no variant is named %q%s", first, schema.DidYouMean(first, variants))
		}
	}
}
