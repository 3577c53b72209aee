package parse

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/expand"
	"github.com/benchrig/bench/scenarios/parse/check"
	"github.com/benchrig/bench/scenarios/parse/keys"
	"github.com/benchrig/bench/scenarios/schema"
)

// maxClasses of one load.
const maxClasses = 100

// readClasses decodes load.classes: each as a load of its own, which has the
// keys of the class over those of the whole. It reports whether all are right.
func (p *parser) readClasses(n *schema.Node, l *scenarios.Load) bool {
	list := n.Get("classes")
	if list == nil || list.Kind == schema.Null || list.Kind == schema.Broken {
		return true
	}
	shape := schema.ListOf(schema.BlockOf(keys.Class().Info()))
	if list.Kind != schema.List || len(list.Items) == 0 {
		p.reader(nil, "classes").Wrong(list, shape)
		return false
	}
	if len(list.Items) > maxClasses {
		p.errs.Add(list.Pos, "%d classes, expected at most %d", len(list.Items), maxClasses)
		return false
	}

	valid := true
	for _, item := range list.Items {
		head, ok := p.classHead(item, l.Classes)
		l.Classes = append(l.Classes, spec.Class{Name: head.Name, Share: head.Share})
		valid = valid && ok
	}
	if !valid {
		return false
	}
	spec.NormalizeClasses(l.Classes)
	return p.classLoads(n, list, l)
}

// classHead reads the name and the share of a class.
func (p *parser) classHead(item *schema.Node, before []spec.Class) (head keys.ClassHead, ok bool) {
	r := p.reader(nil, "classes")
	schema.Decode(r, keys.Class(), item, &head)
	switch {
	case r.Failed:
		return head, false
	case !p.file.Name(item.At("name"), "name of a class", head.Name):
		return head, false
	case slices.ContainsFunc(before, func(c spec.Class) bool { return c.Name == head.Name }):
		p.errs.Add(item.At("name"), "two classes are named %q", head.Name)
		return head, false
	}
	return head, true
}

// classLoads decodes the load of each class, and counts its requests.
func (p *parser) classLoads(n, list *schema.Node, l *scenarios.Load) bool {
	loads := make([]scenarios.Load, len(list.Items))
	nodes := make([]*schema.Node, len(list.Items))
	valid := true
	for i, item := range list.Items {
		nodes[i] = classNode(n, item)
		r := p.reader(map[string]string{})
		schema.Decode(r, keys.Load(), nodes[i], &loads[i])
		valid = valid && !r.Failed
		l.Classes[i].Adapters = loads[i].Adapters
	}
	if !valid {
		return false
	}

	kinds := l.Kinds()
	counts := spec.Counts(kinds, l.NumPrompts)
	warm := spec.InTurn(kinds, spec.MixedWarmups(kinds, l.Warmups))
	for i := range loads {
		own, item := &loads[i], list.Items[i]
		own.NumPrompts, own.Warmups = spec.OfClass(kinds, counts, i+1), spec.OfClass(kinds, warm, i+1)
		if own.NumPrompts == 0 {
			p.errs.Add(item.Pos, "class %s gets none of %d requests: raise num-prompts or its share", l.Classes[i].Name,
				l.NumPrompts)
		}
		check.Load(p.file, nodes[i], own, map[string]string{}, own.NumPrompts > 0)
		check.Class(p.file, item, own)
		describeClass(&l.Classes[i], own)
	}
	l.OfClass = loads
	return true
}

// classNode lays the keys of a class over those of its load that a class may have.
func classNode(n, item *schema.Node) *schema.Node {
	base := *n
	base.Pairs = nil
	own := kindOfDataset(item)
	same := own == "" || own == cmp.Or(kindOfDataset(n), "random") // else lengths are others too
	for _, pair := range n.Pairs {
		whole := []string{"endpoint", "api", "compat", "num-prompts"}
		length := pair.Key == "input-len" || pair.Key == "output-len"
		if keys.PerClass(pair.Key) && (same || !length) || slices.Contains(whole, pair.Key) {
			base.Pairs = append(base.Pairs, pair)
		}
	}
	return expand.Overlay(&base, item.Without("name", "share"), expand.LoadOverlay())
}

// kindOfDataset is the kind that a node of a load or class names; "": none.
func kindOfDataset(n *schema.Node) string {
	if data := n.Get("dataset"); data != nil && data.Kind == schema.Mapping && data.Has("kind") {
		return data.Get("kind").Text
	}
	return ""
}

// describeClass notes what the requests of a class are, for the client and the results.
func describeClass(c *spec.Class, l *scenarios.Load) {
	c.Dataset, c.DatasetPath, c.InputLen, c.OutputLen = l.Dataset.Kind, l.Dataset.Path, l.InputLen, l.OutputLen
	c.IgnoreEOS, c.Sampling, c.Body, c.Tools = l.IgnoreEOS, l.Sampling, l.Body, l.Tools
	c.GoodputS = spec.GoalsS(l.Goodput)
}
