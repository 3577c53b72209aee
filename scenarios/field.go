package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// info is what the table of a block says of one key.
type info struct {
	key      string
	doc      string
	shape    shape
	def      string // default, as YAML
	note     string // default in words, where it depends on other keys
	required bool
}

// blockInfo is a table without its readers: for messages, reference, schema.
type blockInfo struct {
	name    string // "load.dataset"
	doc     string
	example string // YAML of the block's keys
	keys    []info
}

func (b *blockInfo) names() []string {
	names := make([]string, len(b.keys))
	for i, k := range b.keys {
		names[i] = k.key
	}
	return names
}

// field is a key of a block that is read into a T.
type field[T any] struct {
	info
	read   func(r *reader, n *node, into *T)
	always bool // a nested block, read for its defaults even where it is not given
}

// block is the table of one mapping of the file. It drives decoding, messages,
// the reference and the JSON Schema, so that they cannot drift apart.
type block[T any] struct {
	name    string
	doc     string
	example string
	fields  []field[T]
}

func (b block[T]) info() *blockInfo {
	out := &blockInfo{name: b.name, doc: b.doc, example: strings.TrimPrefix(b.example, "\n")}
	for _, f := range b.fields {
		out.keys = append(out.keys, f.info)
	}
	return out
}

// or gives a key a default; note says a default that code works out; must
// makes it required.
func (f field[T]) or(def string) field[T]        { f.def = def; return f }
func (f field[T]) elseNote(note string) field[T] { f.note = note; return f }
func (f field[T]) must() field[T]                { f.required = true; return f }

// lift makes the keys of a U the keys of a T that has one.
func lift[T, U any](fields []field[U], at func(*T) *U) []field[T] {
	out := make([]field[T], len(fields))
	for i, f := range fields {
		out[i] = field[T]{
			info: f.info, always: f.always,
			read: func(r *reader, n *node, into *T) { f.read(r, n, at(into)) },
		}
	}
	return out
}

func textKey[T any, S ~string](key, doc string, at func(*T) *S) field[T] {
	return field[T]{
		info: info{key: key, doc: doc, shape: simple(textShape)},
		read: func(r *reader, n *node, into *T) {
			if s, ok := r.text(n); ok {
				*at(into) = S(s)
			}
		},
	}
}

func wholeKey[T any, I int | uint64](key, doc string, l limits, at func(*T) *I) field[T] {
	s := wholeIn(l)
	return field[T]{
		info: info{key: key, doc: doc, shape: s},
		read: func(r *reader, n *node, into *T) {
			if v, ok := r.whole(n, s); ok {
				*at(into) = I(v)
			}
		},
	}
}

func numberKey[T any](key, doc string, l limits, at func(*T) *float64) field[T] {
	s := numberIn(l)
	return field[T]{
		info: info{key: key, doc: doc, shape: s},
		read: func(r *reader, n *node, into *T) {
			if v, ok := r.number(n, s); ok {
				*at(into) = v
			}
		},
	}
}

func flagKey[T any](key, doc string, at func(*T) *bool) field[T] {
	return field[T]{
		info: info{key: key, doc: doc, shape: simple(flagShape)},
		read: func(r *reader, n *node, into *T) {
			if v, ok := r.flag(n); ok {
				*at(into) = v
			}
		},
	}
}

func durationKey[T any](key, doc string, at func(*T) *time.Duration) field[T] {
	return field[T]{
		info: info{key: key, doc: doc, shape: simple(durationShape)},
		read: func(r *reader, n *node, into *T) {
			if v, ok := r.duration(n); ok {
				*at(into) = v
			}
		},
	}
}

func enumKey[T any, E ~string](key, doc string, values []E, at func(*T) *E) field[T] {
	var names []string
	for _, v := range values {
		names = append(names, string(v))
	}
	s := enumOf(names...)
	return field[T]{
		info: info{key: key, doc: doc, shape: s},
		read: func(r *reader, n *node, into *T) {
			if v, ok := r.enum(n, s); ok {
				*at(into) = E(v)
			}
		},
	}
}

func blockKey[T, B any](key, doc string, b block[B], at func(*T) *B) field[T] {
	return field[T]{
		info: info{key: key, doc: doc, shape: blockOf(b.info())}, always: true,
		read: func(r *reader, n *node, into *T) { decode(r, b, n, at(into)) },
	}
}

// listKey is a list of blocks; begin sets what an entry has by itself.
func listKey[T, B any](key, doc string, b block[B], begin func(*B, Pos), at func(*T) *[]B) field[T] {
	return freeKey(key, doc, listOf(blockOf(b.info())), func(r *reader, n *node, into *T) {
		if n.kind != list {
			r.wrong(n, listOf(blockOf(b.info())))
			return
		}
		for i, it := range n.items {
			if it.kind != mapping {
				r.entryWrong(it)
				continue
			}
			var one B
			begin(&one, it.pos)
			r.path = append(r.path, strconv.Itoa(i))
			decode(r, b, it, &one)
			r.path = r.path[:len(r.path)-1]
			*at(into) = append(*at(into), one)
		}
	})
}

// freeKey is a key with a reader of its own.
func freeKey[T any](key, doc string, s shape, read func(r *reader, n *node, into *T)) field[T] {
	return field[T]{info: info{key: key, doc: doc, shape: s}, read: read}
}

// decode reads a mapping by its table: unknown keys, wrong types and missing
// keys are reported, defaults applied and recorded.
func decode[T any](r *reader, b block[T], n *node, into *T) {
	if n.kind == null {
		n = emptyMapping(n.pos)
	}
	if n.kind != mapping {
		r.wrong(n, simple(blockShape))
		return
	}
	for _, p := range n.pairs {
		if !slices.ContainsFunc(b.fields, func(f field[T]) bool { return f.key == p.key }) {
			r.unknown(b.info(), p)
		}
	}
	for _, f := range b.fields {
		r.path = append(r.path, f.key)
		decodeField(r, f, n, into)
		r.path = r.path[:len(r.path)-1]
	}
}

func decodeField[T any](r *reader, f field[T], n *node, into *T) {
	v := n.get(f.key)
	if v != nil && v.kind == null && v.bare && !structured(f.shape) {
		r.fail(v.pos, "%s has no value, expected %s (write null to leave it out)", f.key, f.shape.words())
		return
	}
	switch {
	case v != nil && v.kind == broken:
		r.failed = true
	case v != nil && v.kind != null:
		f.read(r, v, into)
	case f.always:
		f.read(r, emptyMapping(n.pos), into)
	case f.def != "":
		f.read(r, r.literal(f.def), into)
		r.defaulted(f.def)
	case f.required:
		r.fail(n.pos, "%s is missing, expected %s", strings.Join(r.path, "."), f.shape.words())
	}
}

// structured tells whether an empty place means an empty mapping or list.
func structured(s shape) bool {
	return s.kind == blockShape || s.kind == mapShape || s.kind == listShape ||
		s.kind == oneShape && slices.ContainsFunc(s.alts, structured)
}

// literal is the node of a default as the tables write it.
func literal(def string) *node {
	var errs collector
	n := readTree(&errs, "default", []byte(def), true)
	if len(errs.list) > 0 {
		panic(fmt.Sprintf("bug: default %q: %v", def, errs.list[0]))
	}
	return n
}
