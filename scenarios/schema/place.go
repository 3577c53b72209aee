package schema

import (
	"strconv"

	"github.com/benchrig/bench/internal/cpus"
)

// CPUsKey is a key whose value is a list of CPUs, "0-3,8", or one of words.
func CPUsKey[T any](key, doc string, words []string, at func(*T) *string) Field[T] {
	shapes := []Shape{Simple(TextShape), WholeIn(Between(0, 8191))}
	if words != nil {
		shapes = append([]Shape{EnumOf(words...)}, shapes...)
	}
	return FreeKey(key, doc, OneOf(shapes...), func(r *Reader, n *Node, into *T) {
		if n.oneOf(words) {
			*at(into) = n.Text
			return
		}
		set, err := cpus.Parse(n.Text)
		if err != nil || n.Kind != Text && n.Kind != Number {
			r.Fail(n.Pos, "%s is %s, expected CPUs such as 0-3,8", r.Key(), n.Shown())
			return
		}
		*at(into) = set.String()
	})
}

// NodeKey is a key whose value is the number of a NUMA node, or one of words.
func NodeKey[T any](key, doc string, words []string, at func(*T) *string) Field[T] {
	whole := WholeIn(Between(0, 1023))
	return FreeKey(key, doc, OneOf(EnumOf(words...), whole), func(r *Reader, n *Node, into *T) {
		if n.oneOf(words) {
			*at(into) = n.Text
		} else if node, ok := r.Whole(n, whole); ok {
			*at(into) = strconv.FormatUint(node, 10)
		}
	})
}

// The nice values of Linux; a lower one gets more CPU time.
const (
	lowestNice  = -20
	highestNice = 19
)

// NiceKey is a key whose value is a nice value.
func NiceKey[T any](key, doc string, at func(*T) *int) Field[T] {
	return FreeKey(key, doc, WholeIn(Between(lowestNice, highestNice)), func(r *Reader, n *Node, into *T) {
		nice, err := strconv.Atoi(n.Text)
		if err != nil || nice < lowestNice || nice > highestNice || n.Kind != Number {
			r.Fail(n.Pos, "%s is %s, expected a whole number from %d to %d", r.Key(), n.Shown(),
				lowestNice, highestNice)
			return
		}
		*at(into) = nice
	})
}

// oneOf reports whether the node is one of some words.
func (n *Node) oneOf(words []string) bool {
	for _, w := range words {
		if n.Kind == Text && n.Text == w {
			return true
		}
	}
	return false
}
