package schema

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Shape says what a value may be. It is the one source of the words in error
// messages, of the types in the reference and of the JSON Schema.
type Shape struct {
	Kind   shapeKind
	Limits Limits
	enum   []string
	elem   *Shape     // of ListOf and MapOf
	block  *BlockInfo // of BlockOf
	alts   []Shape    // of OneOf
}

type shapeKind int

// The kinds of a Shape.
const (
	TextShape shapeKind = iota
	wholeShape
	numberShape
	flagShape
	DurationShape
	SizeShape
	LengthShape // tokens, or what the server's context leaves
	PercentShape
	enumShape
	ScalarShape // text, number or true/false
	NullShape
	AnyShape
	listShape
	mapShape
	BlockShape
	oneShape
)

// Limits of a number.
type Limits struct {
	min, Max   float64
	Above      bool // min itself is refused
	Below      bool // max itself is refused
	inf        bool // "inf" is a value
	unboundMax bool
}

// NotNegative are the limits of a number of at least 0.
func NotNegative() Limits { return Limits{unboundMax: true} }

// Between are the limits of a number from min to max, both allowed.
func Between(min, max float64) Limits { return Limits{min: min, Max: max} }

// Positive are the limits of a number above 0; inf says whether "inf" is a value too.
func Positive(inf bool) Limits { return Limits{Above: true, unboundMax: true, inf: inf} }

// EnumOf is the shape of one of several words.
func EnumOf(values ...string) Shape { return Shape{Kind: enumShape, enum: values} }

// ListOf is the shape of a list whose entries have the shape elem.
func ListOf(elem Shape) Shape { return Shape{Kind: listShape, elem: &elem} }

// MapOf is the shape of a mapping from names to values of the shape elem.
func MapOf(elem Shape) Shape { return Shape{Kind: mapShape, elem: &elem} }

// BlockOf is the shape of a mapping with the keys of b.
func BlockOf(b *BlockInfo) Shape { return Shape{Kind: BlockShape, block: b} }

// OneOf is the shape of a value that has one of several shapes.
func OneOf(alts ...Shape) Shape { return Shape{Kind: oneShape, alts: alts} }

// Simple is the shape of a kind that needs no more details.
func Simple(k shapeKind) Shape { return Shape{Kind: k} }

// Texts is the shape of a list of texts.
func Texts() Shape { return ListOf(Simple(TextShape)) }

// TextOrTexts is the shape of a text or a list of them.
func TextOrTexts() Shape { return OneOf(Simple(TextShape), Texts()) }

// AnyMap is the shape of a mapping from names to values of any kind.
func AnyMap() Shape { return MapOf(Simple(AnyShape)) }

// WholeIn is the shape of a whole number within limits.
func WholeIn(l Limits) Shape { return Shape{Kind: wholeShape, Limits: l} }

// NumberIn is the shape of a number within limits.
func NumberIn(l Limits) Shape { return Shape{Kind: numberShape, Limits: l} }

func (l Limits) holds(v float64) bool    { return l.holdsMin(v) && l.holdsMax(v) }
func (l Limits) format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (l Limits) holdsMin(v float64) bool { return v > l.min || v == l.min && !l.Above }

func (l Limits) holdsMax(v float64) bool {
	if math.IsInf(v, 1) {
		return l.inf
	}
	return l.unboundMax || v < l.Max || v == l.Max && !l.Below
}

// words are the limits as a message says them, with a leading space.
func (l Limits) words() string {
	var s string
	switch {
	case l.Max == MaxCount:
		s = " of at least " + l.format(l.min)
	case l.unboundMax && l.Above:
		s = " above " + l.format(l.min)
	case l.unboundMax:
		s = " of at least " + l.format(l.min)
	case l.Below:
		s = fmt.Sprintf(" from %s to below %s", l.format(l.min), l.format(l.Max))
	default:
		s = fmt.Sprintf(" from %s to %s", l.format(l.min), l.format(l.Max))
	}

	if l.inf {
		s += ", or inf"
	}

	return s
}

// Words say what is expected: "a whole number of at least 1".
func (s Shape) Words() string {
	switch s.Kind {
	case TextShape:
		return "text"
	case wholeShape:
		if s.Limits.min == s.Limits.Max && !s.Limits.unboundMax {
			return "the number " + s.Limits.format(s.Limits.min)
		}

		return "a whole number" + s.Limits.words()
	case numberShape:
		return "a number" + s.Limits.words()
	case flagShape:
		return "true or false"
	case DurationShape:
		return "a duration such as 90s, 5m or 1h30m"
	case LengthShape:
		return "a whole number" + s.Limits.words() + ", or max-model-len - N"
	case SizeShape:
		return "a size such as 512MiB, 20GiB or 1.5GB"
	case PercentShape:
		return "a percentage such as 3%"
	case enumShape:
		if len(s.enum) == 1 {
			return s.enum[0]
		}

		return "one of " + strings.Join(s.enum, ", ")
	case ScalarShape:
		return "text, a number, true or false"
	case NullShape:
		return "null"
	case listShape:
		return "a list of " + s.elem.plural()
	case mapShape:
		return "a mapping from names to " + s.elem.plural()
	case BlockShape:
		return "a mapping"
	case oneShape:
		parts := make([]string, len(s.alts))
		for i, a := range s.alts {
			parts[i] = a.Words()
		}

		return strings.Join(parts, ", or ")
	default:
		return "any value"
	}
}

func (s Shape) plural() string {
	switch s.Kind {
	case TextShape:
		return "texts"
	case wholeShape, numberShape:
		return strings.Replace(strings.TrimPrefix(s.Words(), "a "), "number", "numbers", 1)
	case DurationShape:
		return "durations"
	case SizeShape:
		return "sizes"
	case LengthShape:
		return "whole numbers" + s.Limits.words() + ", or max-model-len - N"
	case enumShape:
		return "any of " + strings.Join(s.enum, ", ")
	case BlockShape, mapShape:
		return "mappings"
	case listShape:
		return "lists of " + s.elem.plural()
	case AnyShape:
		return "any values"
	case ScalarShape:
		return "texts, numbers, true or false"
	case oneShape:
		parts := make([]string, len(s.alts))
		for i, a := range s.alts {
			parts[i] = a.plural()
		}

		return strings.Join(parts, ", or ")
	default:
		return s.Words()
	}
}

// MaxCount bounds whole numbers that say how often or how many.
const MaxCount = 1_000_000_000

// LengthOfRest is a length that the server's longest context leaves.
var LengthOfRest = regexp.MustCompile(`^max-model-len *- *([1-9][0-9]{0,8})$`)
