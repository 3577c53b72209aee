package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// kind is what a value of a file is.
type kind int

const (
	broken kind = iota // already reported as an error; every reader passes over it
	null
	boolean
	number // valid as a JSON number
	text
	list
	mapping
)

// node is one value of a file with its place. Nodes are shared between
// variants and never changed once the --set overrides are applied.
type node struct {
	kind   kind
	text   string // scalars: as written
	pos    Pos
	items  []*node // list
	pairs  []pair  // mapping, in file order
	bare   bool    // null that is only an empty place after the colon
	loose  bool    // text of an environment variable: whatever scalar it is read as
	secret bool
	size   int // nodes in it, itself included
}

type pair struct {
	key   string
	pos   Pos
	value *node
}

func emptyMapping(pos Pos) *node { return &node{kind: mapping, pos: pos, size: 1} }

func (n *node) index(key string) int {
	return slices.IndexFunc(n.pairs, func(p pair) bool { return p.key == key })
}

// get is the value of a key; nil if there is none.
func (n *node) get(key string) *node {
	if i := n.index(key); i >= 0 {
		return n.pairs[i].value
	}
	return nil
}

// has tells whether a key has a value other than null.
func (n *node) has(key string) bool {
	v := n.get(key)
	return v != nil && v.kind != null
}

// at is the place of a key's value, or of the mapping without it.
func (n *node) at(key string) Pos {
	if v := n.get(key); v != nil {
		return v.pos
	}
	return n.pos
}

// keyAt is the place of a key, or of the mapping without it.
func (n *node) keyAt(key string) Pos {
	if i := n.index(key); i >= 0 {
		return n.pairs[i].pos
	}
	return n.pos
}

func (n *node) keys() []string {
	keys := make([]string, len(n.pairs))
	for i, p := range n.pairs {
		keys[i] = p.key
	}
	return keys
}

// without is the mapping with some keys left out.
func (n *node) without(keys ...string) *node {
	c := *n
	c.pairs = slices.DeleteFunc(slices.Clone(n.pairs), func(p pair) bool { return slices.Contains(keys, p.key) })
	return &c
}

func (n *node) scalar() bool { return n.kind == boolean || n.kind == number || n.kind == text }

// measure sets size from the children.
func (n *node) measure() {
	n.size = 1
	for _, it := range n.items {
		n.size += it.size
	}
	for _, p := range n.pairs {
		n.size += p.value.size
	}
}

// shown is the value as an error message quotes it.
func (n *node) shown() string {
	switch {
	case n.secret:
		return `"***"`
	case n.kind == list && len(n.items) == 0:
		return "an empty list"
	case n.kind == list:
		return "a list"
	case n.kind == mapping && len(n.pairs) == 0:
		return "an empty mapping"
	case n.kind == mapping:
		return "a mapping"
	case n.kind == null:
		return "null"
	case n.kind == text && !n.loose && classify(n.text) != text:
		return strconv.Quote(n.text) + " in quotes"
	case len(n.text) > 80:
		return strconv.Quote(n.text[:80]) + "..."
	}
	return strconv.Quote(n.text)
}

// value is the node as Go data: nil, bool, json.Number, string, []any or
// map[string]any. A broken node is nil.
func (n *node) value() any {
	switch n.kind {
	case boolean:
		return n.text[0] == 't' || n.text[0] == 'T'
	case number:
		return json.Number(n.text)
	case text:
		return n.text
	case list:
		out := make([]any, len(n.items))
		for i, it := range n.items {
			out[i] = it.value()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			out[p.key] = p.value.value()
		}
		return out
	default:
		return nil
	}
}

// flatten calls f for every scalar or list in n with its dotted path.
func (n *node) flatten(path string, f func(path string, n *node)) {
	if n.kind != mapping {
		f(path, n)
		return
	}
	for _, p := range n.pairs {
		sub := p.key
		if path != "" {
			sub = path + "." + p.key
		}
		p.value.flatten(sub, f)
	}
}

// plainText is a value as one line of text, for matrix parameters.
func (n *node) plainText() string {
	if n.kind == list {
		parts := make([]string, len(n.items))
		for i, it := range n.items {
			parts[i] = it.plainText()
		}
		return fmt.Sprint(parts)
	}
	if n.kind == null {
		return "null"
	}
	return n.text
}
