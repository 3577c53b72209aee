package scenarios

import (
	"maps"
	"slices"
)

// expandMatrix makes the combinations of a variant's matrix, less those that
// exclude: names. Without a matrix it is the variant alone.
func (p *parser) expandMatrix(v *node) []rawVariant {
	outside := &scope{p: p}
	matrix := v.get("matrix")
	if matrix == nil || matrix.kind == null {
		if v.has("exclude") {
			p.errs.add(v.keyAt("exclude"), "exclude needs a matrix")
		}
		return []rawVariant{{node: v}}
	}
	matrix = outside.expand(matrix)
	if matrix.kind != mapping || len(matrix.pairs) == 0 {
		p.reader(nil, "matrix").wrong(matrix, mapOf(listOf(simple(anyShape))))
		return nil
	}
	combos := []map[string]*node{{}}
	for _, axis := range matrix.pairs {
		if !p.goodAxis(axis) {
			return nil
		}
		if len(combos)*len(axis.value.items) > maxVariants {
			p.errs.add(axis.pos, "matrix makes more than %d variants", maxVariants)
			return nil
		}
		combos = cross(combos, axis)
	}
	combos = p.exclude(v, matrix, combos)
	out := make([]rawVariant, len(combos))
	for i, c := range combos {
		out[i] = rawVariant{node: v, params: c, order: matrix.keys()}
	}
	return out
}

func cross(combos []map[string]*node, axis pair) []map[string]*node {
	var out []map[string]*node
	for _, c := range combos {
		for _, value := range axis.value.items {
			one := maps.Clone(c)
			one[axis.key] = value
			out = append(out, one)
		}
	}
	return out
}

func (p *parser) goodAxis(axis pair) bool {
	switch {
	case !varName.MatchString(axis.key):
		p.errs.add(axis.pos, "%q is no name: use letters, digits, _ and -", axis.key)
		return false
	case axis.value.kind == broken:
		return false
	case axis.value.kind != list || len(axis.value.items) == 0:
		p.errs.add(axis.value.pos, "matrix.%s is %s, expected a list of values", axis.key, axis.value.shown())
		return false
	}
	ok := true
	for _, it := range axis.value.items {
		if it.kind == list || it.kind == null {
			p.errs.add(it.pos, "a matrix value is %s, expected text, a number, true, false or a mapping", it.shown())
			ok = false
		}
		ok = ok && it.kind != broken
	}
	return ok
}

// exclude leaves out the combinations that an entry of exclude: matches.
func (p *parser) exclude(v, matrix *node, combos []map[string]*node) []map[string]*node {
	entries := v.get("exclude")
	if entries == nil || entries.kind == null {
		return combos
	}
	entries = (&scope{p: p}).expand(entries)
	if entries.kind != list {
		p.reader(nil, "exclude").wrong(entries, listOf(mapOf(simple(anyShape))))
		return combos
	}
	known := matrixPaths(matrix)
	left := slices.Clone(combos)
	for _, e := range entries.items {
		want, ok := p.excludeEntry(e, known)
		if !ok {
			continue
		}
		match := func(c map[string]*node) bool { return matches(c, want) }
		if !slices.ContainsFunc(combos, match) {
			p.errs.add(e.pos, "this exclude matches no combination of the matrix")
		}
		left = slices.DeleteFunc(left, match)
	}
	if len(left) == 0 {
		p.errs.add(entries.pos, "exclude leaves no combination of the matrix")
	}
	return left
}

// matrixPaths are the dotted names of everything in a matrix.
func matrixPaths(matrix *node) []string {
	seen := map[string]bool{}
	for _, axis := range matrix.pairs {
		for _, it := range axis.value.items {
			it.flatten(axis.key, func(path string, _ *node) { seen[path] = true })
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// excludeEntry reads one entry as dotted names with the text they must have.
func (p *parser) excludeEntry(e *node, known []string) (map[string]string, bool) {
	if e.kind != mapping || len(e.pairs) == 0 {
		p.reader(nil, "an entry of exclude").wrong(e, mapOf(simple(scalarShape)))
		return nil, false
	}
	want, ok := map[string]string{}, true
	for _, pr := range e.pairs {
		pr.value.flatten(pr.key, func(path string, n *node) {
			if !slices.Contains(known, path) {
				p.errs.add(pr.pos, "matrix has no %q%s", path, didYouMean(path, known))
				ok = false
			}
			if n.kind == broken {
				ok = false
			}
			want[path] = n.plainText()
		})
	}
	return want, ok
}

func matches(combo map[string]*node, want map[string]string) bool {
	have := map[string]string{}
	for name, n := range combo {
		n.flatten(name, func(path string, n *node) { have[path] = n.plainText() })
	}
	for path, value := range want {
		if got, ok := have[path]; !ok || got != value {
			return false
		}
	}
	return true
}
