package scenarios

import (
	"strings"
)

// override is one --set.
type override struct {
	text string // as given
	path []string
	pos  Pos
	node *node
	used bool
}

// overrides reads the --set texts.
func (p *parser) overrides() []*override {
	var out []*override
	for _, s := range p.opts.Set {
		pos := Pos{File: "--set " + s}
		path, value, ok := strings.Cut(s, "=")
		path = strings.TrimSpace(path)
		if !ok || path == "" || strings.Contains("."+path+".", "..") {
			p.errs.add(pos, "write --set path.to.key=value")
			continue
		}
		if secretName(path) {
			pos.File = "--set " + path + "=" + hidden
		}
		n := readTree(&p.errs, pos.File, []byte(value), false)
		out = append(out, &override{text: s, path: strings.Split(path, "."), pos: pos, node: n})
	}
	return out
}

// apply puts the overrides into the file's tree. Those of expanded variants
// come back, to be applied when their variant is made.
func (p *parser) apply(root *node, sets []*override) []*override {
	var later []*override
	for _, o := range sets {
		switch {
		case o.path[0] == "variants" && len(o.path) > 1:
			if !p.applyToVariant(root, o) {
				later = append(later, o)
			}
		default:
			if o.path[0] == "vars" && len(o.path) == 2 && root.get("vars").get0(o.path[1]) == nil {
				p.setVars[o.path[1]] = o.pos
			}
			o.put(&p.errs, root, o.path)
		}
	}
	return later
}

// get0 is get on a mapping that may be missing.
func (n *node) get0(key string) *node {
	if n == nil {
		return nil
	}
	return n.get(key)
}

// applyToVariant applies an override to the variant of the file whose name, as
// written, starts the path; names may contain dots.
func (p *parser) applyToVariant(root *node, o *override) bool {
	variants := root.get("variants")
	if variants == nil {
		return false
	}
	for _, v := range variants.items {
		if name := v.get("name"); name != nil && o.applyNamed(&p.errs, v, name.text) {
			return true
		}
	}
	return false
}

// applyNamed applies the override to a variant if the path names it.
func (o *override) applyNamed(errs *collector, variant *node, name string) bool {
	rest, ok := strings.CutPrefix(strings.Join(o.path[1:], "."), name+".")
	if !ok || name == "" {
		return false
	}
	o.used = true
	o.put(errs, variant, strings.Split(rest, "."))
	return true
}

// put sets the value at path beneath n and makes the mappings on the way.
func (o *override) put(errs *collector, n *node, path []string) {
	for i, key := range path {
		last := i == len(path)-1
		at := n.index(key)
		if i > 0 && path[i-1] == "args" {
			at = argIndex(n, key)
		}
		if last {
			if at >= 0 {
				n.pairs[at].value = o.node
			} else {
				n.pairs = append(n.pairs, pair{key, o.pos, o.node})
			}
			return
		}
		if at < 0 {
			at = len(n.pairs)
			n.pairs = append(n.pairs, pair{key, o.pos, emptyMapping(o.pos)})
		}
		sub := n.pairs[at].value
		if sub.kind == null {
			sub = emptyMapping(o.pos)
			n.pairs[at].value = sub
		}
		if sub.kind != mapping {
			if sub.kind != broken {
				errs.add(o.pos, "%s is %s, which has no keys: set it as a whole", strings.Join(path[:i+1], "."), sub.shown())
			}
			return
		}
		n = sub
	}
}

// reportUnused reports overrides that no variant took.
func (p *parser) reportUnused(later []*override, names []string) {
	for _, o := range later {
		if o.used {
			continue
		}
		rest := strings.Join(o.path[1:], ".")
		first, _, more := strings.Cut(rest, ".")
		if !more {
			p.errs.add(o.pos, "write --set variants.NAME.KEY=VALUE")
			continue
		}
		p.errs.add(o.pos, "no variant is named %q%s", first, didYouMean(first, names))
	}
}
