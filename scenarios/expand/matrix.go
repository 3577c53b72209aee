package expand

import (
	"maps"
	"slices"

	"github.com/benchrig/bench/scenarios/schema"
)

// expandMatrix makes the combinations of a variant's matrix, less those that
// exclude: names. Without a matrix it is the variant alone.
func (ns *Names) expandMatrix(v *schema.Node) []rawVariant {
	outside := ns.Outside()
	matrix := v.Get("matrix")
	if matrix == nil || matrix.Kind == schema.Null {
		if v.Has("exclude") {
			ns.errs.Add(v.KeyAt("exclude"), "exclude needs a matrix")
		}
		return []rawVariant{{node: v}}
	}

	matrix = outside.Expand(matrix)
	if matrix.Kind != schema.Mapping || len(matrix.Pairs) == 0 {
		schema.Wrong(ns.errs, "matrix", matrix, schema.MapOf(schema.ListOf(schema.Simple(schema.AnyShape))))
		return nil
	}

	combos := []map[string]*schema.Node{{}}
	for _, axis := range matrix.Pairs {
		if !ns.goodAxis(axis) {
			return nil
		}
		if len(combos)*len(axis.Value.Items) > maxVariants {
			ns.errs.Add(axis.Pos, "matrix makes more than %d variants", maxVariants)
			return nil
		}
		combos = cross(combos, axis)
	}

	combos = ns.exclude(v, matrix, combos)
	out := make([]rawVariant, len(combos))
	for i, c := range combos {
		out[i] = rawVariant{node: v, params: c, order: matrix.Keys()}
	}

	return out
}

func cross(combos []map[string]*schema.Node, axis schema.Pair) []map[string]*schema.Node {
	var out []map[string]*schema.Node
	for _, c := range combos {
		for _, value := range axis.Value.Items {
			one := maps.Clone(c)
			one[axis.Key] = value
			out = append(out, one)
		}
	}
	return out
}

func (ns *Names) goodAxis(axis schema.Pair) bool {
	switch {
	case !varName.MatchString(axis.Key):
		ns.errs.Add(axis.Pos, "%q is not a valid name: use letters, digits, _ and -", axis.Key)
		return false
	case axis.Value.Kind == schema.Broken:
		return false
	case axis.Value.Kind != schema.List || len(axis.Value.Items) == 0:
		ns.errs.Add(axis.Value.Pos, "matrix.%s is %s, expected a list of values", axis.Key, axis.Value.Shown())
		return false
	}

	ok := true
	for _, it := range axis.Value.Items {
		if it.Kind == schema.List || it.Kind == schema.Null {
			ns.errs.Add(it.Pos, "a matrix value is %s, expected text, a number, true, false or a mapping", it.Shown())
			ok = false
		}
		ok = ok && it.Kind != schema.Broken
	}

	return ok
}

// exclude leaves out the combinations that an entry of exclude: matches.
func (ns *Names) exclude(v, matrix *schema.Node, combos []map[string]*schema.Node) []map[string]*schema.Node {
	entries := v.Get("exclude")
	if entries == nil || entries.Kind == schema.Null {
		return combos
	}

	entries = ns.Outside().Expand(entries)
	if entries.Kind != schema.List {
		schema.Wrong(ns.errs, "exclude", entries, schema.ListOf(schema.AnyMap()))
		return combos
	}

	known := matrixPaths(matrix)
	left := slices.Clone(combos)
	for _, e := range entries.Items {
		want, ok := ns.excludeEntry(e, known)
		if !ok {
			continue
		}
		match := func(c map[string]*schema.Node) bool { return matches(c, want) }
		if !slices.ContainsFunc(combos, match) {
			ns.errs.Add(e.Pos, "this exclude matches no combination of the matrix")
		}
		left = slices.DeleteFunc(left, match)
	}

	if len(left) == 0 {
		ns.errs.Add(entries.Pos, "exclude leaves no combination of the matrix")
	}

	return left
}

// matrixPaths are the dotted names of everything in a matrix.
func matrixPaths(matrix *schema.Node) []string {
	seen := map[string]bool{}
	for _, axis := range matrix.Pairs {
		for _, it := range axis.Value.Items {
			it.Flatten(axis.Key, func(path string, _ *schema.Node) { seen[path] = true })
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// excludeEntry reads one entry as dotted names with the text they must have.
func (ns *Names) excludeEntry(e *schema.Node, known []string) (map[string]string, bool) {
	if e.Kind != schema.Mapping || len(e.Pairs) == 0 {
		schema.Wrong(ns.errs, "an entry of exclude", e, schema.MapOf(schema.Simple(schema.ScalarShape)))
		return nil, false
	}

	want, ok := map[string]string{}, true
	for _, pr := range e.Pairs {
		pr.Value.Flatten(pr.Key, func(path string, n *schema.Node) {
			if !slices.Contains(known, path) {
				ns.errs.Add(pr.Pos, "matrix has no %q%s", path, schema.DidYouMean(path, known))
				ok = false
			}
			if n.Kind == schema.Broken {
				ok = false
			}
			want[path] = n.PlainText()
		})
	}

	return want, ok
}

func matches(combo map[string]*schema.Node, want map[string]string) bool {
	have := map[string]string{}
	for name, n := range combo {
		n.Flatten(name, func(path string, n *schema.Node) { have[path] = n.PlainText() })
	}
	for path, value := range want {
		if got, ok := have[path]; !ok || got != value {
			return false
		}
	}
	return true
}
