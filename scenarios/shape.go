package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// shape says what a value may be. It is the one source of the words in error
// messages, of the types in the reference and of the JSON Schema.
type shape struct {
	kind   shapeKind
	limits limits
	enum   []string
	elem   *shape     // of listOf and mapOf
	block  *blockInfo // of blockOf
	alts   []shape    // of oneOf
}

type shapeKind int

const (
	textShape shapeKind = iota
	wholeShape
	numberShape
	flagShape
	durationShape
	sizeShape
	lengthShape // tokens, or what the server's context leaves
	percentShape
	enumShape
	scalarShape // text, number or true/false
	nullShape
	anyShape
	listShape
	mapShape
	blockShape
	oneShape
)

// limits of a number.
type limits struct {
	min, max   float64
	above      bool // min itself is refused
	below      bool // max itself is refused
	inf        bool // "inf" is a value
	unboundMax bool
}

func notNegative() limits                { return limits{unboundMax: true} }
func between(min, max float64) limits    { return limits{min: min, max: max} }
func positive(inf bool) limits           { return limits{above: true, unboundMax: true, inf: inf} }
func enumOf(values ...string) shape      { return shape{kind: enumShape, enum: values} }
func listOf(elem shape) shape            { return shape{kind: listShape, elem: &elem} }
func mapOf(elem shape) shape             { return shape{kind: mapShape, elem: &elem} }
func blockOf(b *blockInfo) shape         { return shape{kind: blockShape, block: b} }
func oneOf(alts ...shape) shape          { return shape{kind: oneShape, alts: alts} }
func simple(k shapeKind) shape           { return shape{kind: k} }
func wholeIn(l limits) shape             { return shape{kind: wholeShape, limits: l} }
func numberIn(l limits) shape            { return shape{kind: numberShape, limits: l} }
func (l limits) holds(v float64) bool    { return l.holdsMin(v) && l.holdsMax(v) }
func (l limits) format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (l limits) holdsMin(v float64) bool { return v > l.min || v == l.min && !l.above }

func (l limits) holdsMax(v float64) bool {
	if math.IsInf(v, 1) {
		return l.inf
	}
	return l.unboundMax || v < l.max || v == l.max && !l.below
}

// words are the limits as a message says them, with a leading space.
func (l limits) words() string {
	var s string
	switch {
	case l.max == maxCount:
		s = " of at least " + l.format(l.min)
	case l.unboundMax && l.above:
		s = " above " + l.format(l.min)
	case l.unboundMax:
		s = " of at least " + l.format(l.min)
	case l.below:
		s = fmt.Sprintf(" from %s to below %s", l.format(l.min), l.format(l.max))
	default:
		s = fmt.Sprintf(" from %s to %s", l.format(l.min), l.format(l.max))
	}
	if l.inf {
		s += ", or inf"
	}
	return s
}

// words say what is expected: "a whole number of at least 1".
func (s shape) words() string {
	switch s.kind {
	case textShape:
		return "text"
	case wholeShape:
		if s.limits.min == s.limits.max {
			return "the number " + s.limits.format(s.limits.min)
		}
		return "a whole number" + s.limits.words()
	case numberShape:
		return "a number" + s.limits.words()
	case flagShape:
		return "true or false"
	case durationShape:
		return "a duration such as 90s, 5m or 1h30m"
	case lengthShape:
		return "a whole number" + s.limits.words() + ", or max-model-len - N"
	case sizeShape:
		return "a size such as 512MiB, 20GiB or 1.5GB"
	case percentShape:
		return "a percentage such as 3%"
	case enumShape:
		if len(s.enum) == 1 {
			return s.enum[0]
		}
		return "one of " + strings.Join(s.enum, ", ")
	case scalarShape:
		return "text, a number, true or false"
	case nullShape:
		return "null"
	case listShape:
		return "a list of " + s.elem.plural()
	case mapShape:
		return "a mapping from names to " + s.elem.plural()
	case blockShape:
		return "a mapping"
	case oneShape:
		parts := make([]string, len(s.alts))
		for i, a := range s.alts {
			parts[i] = a.words()
		}
		return strings.Join(parts, ", or ")
	default:
		return "any value"
	}
}

func (s shape) plural() string {
	switch s.kind {
	case textShape:
		return "texts"
	case wholeShape, numberShape:
		return strings.Replace(strings.TrimPrefix(s.words(), "a "), "number", "numbers", 1)
	case durationShape:
		return "durations"
	case sizeShape:
		return "sizes"
	case lengthShape:
		return "whole numbers" + s.limits.words() + ", or max-model-len - N"
	case enumShape:
		return "any of " + strings.Join(s.enum, ", ")
	case blockShape, mapShape:
		return "mappings"
	case listShape:
		return "lists of " + s.elem.plural()
	case anyShape:
		return "any values"
	case scalarShape:
		return "texts, numbers, true or false"
	case oneShape:
		parts := make([]string, len(s.alts))
		for i, a := range s.alts {
			parts[i] = a.plural()
		}
		return strings.Join(parts, ", or ")
	default:
		return s.words()
	}
}
