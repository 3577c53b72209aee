// Package schema is the engine of table-driven YAML files: a table of keys, with
// their types, limits, defaults and meaning, drives the strict decoding with
// positions, the error messages, the JSON Schema and the reference, so that
// these cannot drift apart.
//
// What goes in: YAML text and tables (Block, Field). What comes out: Nodes with
// places, typed values, every Error of the file at once, a JSON Schema, and
// Markdown. It knows no key of a scenario, no file system and no clock.
package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info is what the table of a block says of one key.
type Info struct {
	Key      string
	Doc      string
	Shape    Shape
	Default  string // as YAML
	Note     string // default in words, where it depends on other keys
	Required bool
	Always   bool // a nested block, read for its defaults even where it is not given
}

// BlockInfo is a table without its readers: for messages, reference, schema.
type BlockInfo struct {
	Name    string // "load.dataset"
	Doc     string
	Example string // YAML of the block's keys
	Keys    []Info
}

// Names lists the block's keys in the order of the table.
func (b *BlockInfo) Names() []string {
	names := make([]string, len(b.Keys))
	for i, k := range b.Keys {
		names[i] = k.Key
	}
	return names
}

// Field is a key of a block that is read into a T. Its Info belongs to it alone.
type Field[T any] struct {
	*Info

	read func(r *Reader, n *Node, into *T)
}

// Block is the table of one mapping of the file. It drives decoding, messages,
// the reference and the JSON Schema, so that they cannot drift apart.
type Block[T any] struct {
	Name    string
	Doc     string
	Example string
	Fields  []Field[T]
}

// Info returns the table without its readers.
func (b Block[T]) Info() *BlockInfo {
	keys := make([]Info, len(b.Fields))
	for i := range b.Fields {
		keys[i] = *b.Fields[i].Info
	}
	return &BlockInfo{Name: b.Name, Doc: b.Doc, Example: strings.TrimPrefix(b.Example, "\n"), Keys: keys}
}

// Or gives a key a default, written as YAML.
func (f Field[T]) Or(def string) Field[T] { f.Default = def; return f }

// DefaultNote says in words which default code works out for a key.
func (f Field[T]) DefaultNote(note string) Field[T] { f.Note = note; return f }

// Must makes a key required.
func (f Field[T]) Must() Field[T] { f.Required = true; return f }

// Lift makes the keys of a U the keys of a T that has one.
func Lift[T, U any](fields []Field[U], at func(*T) *U) []Field[T] {
	out := make([]Field[T], len(fields))
	for i, f := range fields {
		out[i] = Field[T]{
			Info: f.Info,
			read: func(r *Reader, n *Node, into *T) { f.read(r, n, at(into)) },
		}
	}
	return out
}

// valueKey is a key whose value is what read returns, unless read has reported it as wrong.
func valueKey[T, V any](
	key, doc string, s Shape, read func(*Reader, *Node) (V, bool), set func(into *T, v V),
) Field[T] {
	return FreeKey(key, doc, s, func(r *Reader, n *Node, into *T) {
		if v, ok := read(r, n); ok {
			set(into, v)
		}
	})
}

// TextKey is a key whose value is a text.
func TextKey[T any, S ~string](key, doc string, at func(*T) *S) Field[T] {
	return valueKey(key, doc, Simple(TextShape), (*Reader).Text, func(into *T, s string) { *at(into) = S(s) })
}

// WholeKey is a key whose value is a whole number within the limits.
func WholeKey[T any, I int | uint64](key, doc string, l Limits, at func(*T) *I) Field[T] {
	s := WholeIn(l)
	read := func(r *Reader, n *Node) (uint64, bool) { return r.Whole(n, s) }
	return valueKey(key, doc, s, read, func(into *T, v uint64) { *at(into) = I(v) })
}

// NumberKey is a key whose value is a number within the limits.
func NumberKey[T any](key, doc string, l Limits, at func(*T) *float64) Field[T] {
	s := NumberIn(l)
	read := func(r *Reader, n *Node) (float64, bool) { return r.Number(n, s) }
	return valueKey(key, doc, s, read, func(into *T, v float64) { *at(into) = v })
}

// FlagKey is a key whose value is true or false.
func FlagKey[T any](key, doc string, at func(*T) *bool) Field[T] {
	return valueKey(key, doc, Simple(flagShape), (*Reader).flag, func(into *T, v bool) { *at(into) = v })
}

// NotFlagKey is FlagKey for a field that holds the opposite.
func NotFlagKey[T any](key, doc string, at func(*T) *bool) Field[T] {
	f := FlagKey(key, doc, at)
	read := f.read
	f.read = func(r *Reader, n *Node, into *T) {
		read(r, n, into)
		*at(into) = !*at(into)
	}
	return f
}

// ArgvKey is a command line as a list of words.
func ArgvKey[T any](key, doc string, at func(*T) *[]string) Field[T] {
	return valueKey(key, doc, Texts(), (*Reader).Argv, func(into *T, v []string) { *at(into) = v })
}

// TextsKey is a list of texts, each as it is written.
func TextsKey[T any](key, doc string, at func(*T) *[]string) Field[T] {
	return valueKey(key, doc, Texts(), (*Reader).Texts, func(into *T, v []string) { *at(into) = v })
}

// DurationKey is a key whose value is a duration such as 90s; of plain numbers only 0.
func DurationKey[T any](key, doc string, at func(*T) *time.Duration) Field[T] {
	return valueKey(key, doc, Simple(DurationShape), (*Reader).Duration,
		func(into *T, v time.Duration) { *at(into) = v })
}

// PercentKey is a key whose value is a percentage, which is read as a share.
func PercentKey[T any](key, doc string, at func(*T) *float64) Field[T] {
	return valueKey(key, doc, Simple(PercentShape), (*Reader).Percent, func(into *T, v float64) { *at(into) = v })
}

// EnumKey is a key whose value is one of values.
func EnumKey[T any, E ~string](key, doc string, values []E, at func(*T) *E) Field[T] {
	var names []string
	for _, v := range values {
		names = append(names, string(v))
	}
	s := EnumOf(names...)
	read := func(r *Reader, n *Node) (string, bool) { return r.Enum(n, s) }
	return valueKey(key, doc, s, read, func(into *T, v string) { *at(into) = E(v) })
}

// EnumsKey is a key whose value is a list of values, each once at most, or with
// single one value as well.
func EnumsKey[T any](key, doc string, values []string, single bool, at func(*T) *[]string) Field[T] {
	one := EnumOf(values...)
	shape := ListOf(one)
	if single {
		shape = OneOf(one, shape)
	}

	return Field[T]{
		Info: &Info{Key: key, Doc: doc, Shape: shape},
		read: func(r *Reader, n *Node, into *T) {
			items := n.Items
			switch {
			case n.Kind != List && single:
				items = []*Node{n}
			case n.Kind != List:
				r.Wrong(n, shape)
				return
			case single && len(items) == 0:
				r.Fail(n.Pos, "%s is an empty list", key)
			}

			for _, item := range items {
				value, ok := r.Enum(item, one)
				if ok && slices.Contains(*at(into), value) {
					r.Fail(item.Pos, "%s lists %s twice", key, value)
				} else if ok {
					*at(into) = append(*at(into), value)
				}
			}
		},
	}
}

// BlockKey is a key whose value is a nested block, which is read for its defaults even where it is not given.
func BlockKey[T, B any](key, doc string, b Block[B], at func(*T) *B) Field[T] {
	return Field[T]{
		Info: &Info{Key: key, Doc: doc, Shape: BlockOf(b.Info()), Always: true},
		read: func(r *Reader, n *Node, into *T) { Decode(r, b, n, at(into)) },
	}
}

// GivenBlockKey is a key whose value is a nested block, which is read only where it is given: elsewhere its defaults
// have no meaning.
func GivenBlockKey[T, B any](key, doc string, b Block[B], at func(*T) *B) Field[T] {
	f := BlockKey(key, doc, b, at)
	f.Always = false
	return f
}

// ListKey is a list of blocks; entry is what each is before its keys are read.
func ListKey[T, B any](key, doc string, b Block[B], entry B, at func(*T) *[]B) Field[T] {
	return FreeKey(key, doc, ListOf(BlockOf(b.Info())), func(r *Reader, n *Node, into *T) {
		if n.Kind != List {
			r.Wrong(n, ListOf(BlockOf(b.Info())))
			return
		}
		for i, it := range n.Items {
			if it.Kind != Mapping {
				r.entryWrong(it)
				continue
			}
			one := entry
			r.Path = append(r.Path, strconv.Itoa(i))
			Decode(r, b, it, &one)
			r.Path = r.Path[:len(r.Path)-1]
			*at(into) = append(*at(into), one)
		}
	})
}

// FreeKey is a key with a reader of its own.
func FreeKey[T any](key, doc string, s Shape, read func(r *Reader, n *Node, into *T)) Field[T] {
	return Field[T]{Info: &Info{Key: key, Doc: doc, Shape: s}, read: read}
}

// ReadKey is a key whose value is what read returns, which reports what is wrong.
func ReadKey[T, V any](key, doc string, s Shape, read func(r *Reader, n *Node) V, at func(*T) *V) Field[T] {
	return FreeKey(key, doc, s, func(r *Reader, n *Node, into *T) { *at(into) = read(r, n) })
}

// UnreadKey is a key whose value is read by other means than the table.
func UnreadKey[T any](key, doc string, s Shape) Field[T] {
	return FreeKey(key, doc, s, func(*Reader, *Node, *T) {})
}

// Decode reads a mapping by its table: unknown keys, wrong types and missing
// keys are reported, defaults applied and recorded.
func Decode[T any](r *Reader, b Block[T], n *Node, into *T) {
	t := table{
		size: len(b.Fields),
		key:  func(i int) *Info { return b.Fields[i].Info },
		read: func(i int, n *Node) { b.Fields[i].read(r, n, into) },
		info: b.Info,
	}
	t.decode(r, n)
}

// table is a Block without the type of what it is read into, so that the code that
// reads a block is in the program once, not once for each type.
type table struct {
	size int // number of keys
	key  func(i int) *Info
	read func(i int, n *Node) // key i
	info func() *BlockInfo
}

func (t table) decode(r *Reader, n *Node) {
	if n.Kind == Null {
		n = EmptyMapping(n.Pos)
	}
	if n.Kind != Mapping {
		r.Wrong(n, Simple(BlockShape))
		return
	}

	for _, p := range n.Pairs {
		if !t.has(p.Key) {
			r.Unknown(t.info(), p)
		}
	}

	for i := range t.size {
		r.Path = append(r.Path, t.key(i).Key)
		t.decodeKey(r, i, n)
		r.Path = r.Path[:len(r.Path)-1]
	}
}

func (t table) has(key string) bool {
	for i := range t.size {
		if t.key(i).Key == key {
			return true
		}
	}
	return false
}

func (t table) decodeKey(r *Reader, i int, n *Node) {
	key := t.key(i)
	v := n.Get(key.Key)
	if v != nil && v.Kind == Null && v.Bare && !structured(key.Shape) {
		r.Fail(v.Pos, "%s has no value, expected %s (write null to leave it out)", key.Key, key.Shape.Words())
		return
	}

	switch {
	case v != nil && v.Kind == Broken:
		r.Failed = true
	case v != nil && v.Kind != Null:
		t.read(i, v)
	case key.Always:
		t.read(i, EmptyMapping(n.Pos))
	case key.Default != "":
		t.read(i, r.literal(key.Default))
		r.defaulted(key.Default)
	case key.Required:
		r.Fail(n.Pos, "%s is missing, expected %s", strings.Join(r.Path, "."), key.Shape.Words())
	}
}

// structured reports whether an empty place means an empty mapping or list.
func structured(s Shape) bool {
	return s.Kind == BlockShape || s.Kind == mapShape || s.Kind == listShape ||
		s.Kind == oneShape && slices.ContainsFunc(s.alts, structured)
}

// literal is the node of a default as the tables write it.
func literal(def string) *Node {
	var errs Collector
	n := ReadTree(&errs, "default", []byte(def), true)
	if len(errs.List) > 0 {
		panic(fmt.Sprintf("bug: default %q: %v", def, errs.List[0]))
	}
	return n
}
