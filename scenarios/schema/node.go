package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// kind is what a value of a file is.
type kind int

// The kinds of a Node.
const (
	Broken kind = iota // already reported as an error; every reader passes over it
	Null
	Boolean
	Number // valid as a JSON number
	Text
	List
	Mapping
)

// Node is one value of a file with its place. Nodes are shared between
// variants and never changed once the --set overrides are applied.
type Node struct {
	Kind   kind
	Text   string // scalars: as written
	Pos    Pos
	Items  []*Node // list
	Pairs  []Pair  // mapping, in file order
	Bare   bool    // null that is only an empty place after the colon
	Loose  bool    // text of an environment variable: whatever scalar it is read as
	Secret bool
	Size   int // nodes in it, itself included
}

// Pair is one key of a mapping with its place and its value.
type Pair struct {
	Key   string
	Pos   Pos
	Value *Node
}

// EmptyMapping returns a mapping without keys at pos.
func EmptyMapping(pos Pos) *Node { return &Node{Kind: Mapping, Pos: pos, Size: 1} }

// Index returns the index in Pairs of the first pair with a key; -1 if there is none.
func (n *Node) Index(key string) int {
	return slices.IndexFunc(n.Pairs, func(p Pair) bool { return p.Key == key })
}

// Get is the value of a key; nil if there is none.
func (n *Node) Get(key string) *Node {
	if i := n.Index(key); i >= 0 {
		return n.Pairs[i].Value
	}
	return nil
}

// Has reports whether a key has a value other than null.
func (n *Node) Has(key string) bool {
	v := n.Get(key)
	return v != nil && v.Kind != Null
}

// Empty reports whether nothing follows the colon, as with "args:" above
// lines that are all comments.
func (n *Node) Empty() bool { return n.Kind == Null && n.Bare }

// At is the place of a key's value, or of the mapping without it.
func (n *Node) At(key string) Pos {
	if v := n.Get(key); v != nil {
		return v.Pos
	}
	return n.Pos
}

// KeyAt is the place of a key, or of the mapping without it.
func (n *Node) KeyAt(key string) Pos {
	if i := n.Index(key); i >= 0 {
		return n.Pairs[i].Pos
	}
	return n.Pos
}

// Keys lists the keys of a mapping in the order of the file.
func (n *Node) Keys() []string {
	keys := make([]string, len(n.Pairs))
	for i, p := range n.Pairs {
		keys[i] = p.Key
	}
	return keys
}

// Without is the mapping with some keys left out.
func (n *Node) Without(keys ...string) *Node {
	c := *n
	c.Pairs = slices.DeleteFunc(slices.Clone(n.Pairs), func(p Pair) bool { return slices.Contains(keys, p.Key) })
	return &c
}

// Scalar reports whether the value is a boolean, a number or a text; null is not one.
func (n *Node) Scalar() bool { return n.Kind == Boolean || n.Kind == Number || n.Kind == Text }

// Measure sets size from the children.
func (n *Node) Measure() {
	n.Size = 1
	for _, it := range n.Items {
		n.Size += it.Size
	}
	for _, p := range n.Pairs {
		n.Size += p.Value.Size
	}
}

// Shown is the value as an error message quotes it.
func (n *Node) Shown() string {
	switch {
	case n.Secret:
		return `"***"`
	case n.Kind == List && len(n.Items) == 0:
		return "an empty list"
	case n.Kind == List:
		return "a list"
	case n.Kind == Mapping && len(n.Pairs) == 0:
		return "an empty mapping"
	case n.Kind == Mapping:
		return "a mapping"
	case n.Kind == Null:
		return "null"
	case n.Kind == Text && !n.Loose && Classify(n.Text) != Text:
		return strconv.Quote(n.Text) + " in quotes"
	case len(n.Text) > 80:
		return strconv.Quote(n.Text[:80]) + "..."
	}

	return strconv.Quote(n.Text)
}

// Value is the node as Go data: nil, bool, json.Number, string, []any or
// map[string]any. A broken node is nil.
func (n *Node) Value() any {
	switch n.Kind {
	case Boolean:
		return n.Text[0] == 't' || n.Text[0] == 'T'
	case Number:
		return json.Number(n.Text)
	case Text:
		return n.Text
	case List:
		out := make([]any, len(n.Items))
		for i, it := range n.Items {
			out[i] = it.Value()
		}
		return out
	case Mapping:
		out := make(map[string]any, len(n.Pairs))
		for _, p := range n.Pairs {
			out[p.Key] = p.Value.Value()
		}
		return out
	default:
		return nil
	}
}

// Flatten calls f for every scalar or list in n with its dotted path.
func (n *Node) Flatten(path string, f func(path string, n *Node)) {
	if n.Kind != Mapping {
		f(path, n)
		return
	}
	for _, p := range n.Pairs {
		sub := p.Key
		if path != "" {
			sub = path + "." + p.Key
		}
		p.Value.Flatten(sub, f)
	}
}

// PlainText is a value as one line of text, for matrix parameters.
func (n *Node) PlainText() string {
	if n.Kind == List {
		parts := make([]string, len(n.Items))
		for i, it := range n.Items {
			parts[i] = it.PlainText()
		}
		return fmt.Sprint(parts)
	}
	if n.Kind == Null {
		return "null"
	}
	return n.Text
}

// LookupKey is get on a mapping that may be missing.
func (n *Node) LookupKey(key string) *Node {
	if n == nil {
		return nil
	}
	return n.Get(key)
}

// Clone copies all mappings in n, so that they may be changed.
func (n *Node) Clone() *Node {
	c := *n
	c.Pairs = slices.Clone(n.Pairs)
	for i := range c.Pairs {
		c.Pairs[i].Value = c.Pairs[i].Value.Clone()
	}
	return &c
}
