// Package pyjson writes numbers and JSON as Python does.
//
// What goes in: values, and JSON as encoding/json writes it. What comes out: the
// same with Python's spelling of floats and the layout of its json.dumps.
package pyjson

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Float is Python's repr of a number: the shortest digits, with an exponent below
// 1e-4 and from 1e16 on.
func Float(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	if size := math.Abs(v); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// Value replaces the floats in v, so that encoding/json writes them as Float does.
func Value(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(Float(v))
	case *float64:
		if v != nil {
			return json.RawMessage(Float(*v))
		}
	case []float64:
		return json.RawMessage(list(v, Float))
	case [][]float64:
		return json.RawMessage(list(v, func(inner []float64) string { return list(inner, Float) }))
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			return json.RawMessage(Float(f))
		}
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, inner := range v {
			m[name] = Value(inner)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, inner := range v {
			list[i] = Value(inner)
		}
		return list
	}

	return v
}

func list[T any](values []T, text func(T) string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = text(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Respace turns compact JSON into the layout of Python's json.dumps: a space
// after each comma and colon, and nothing but printable ASCII in strings.
func Respace(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	inString := false
	for i := 0; i < len(compact); {
		c := compact[i]
		switch {
		case inString && c == '\\':
			out = append(out, c, compact[i+1])
			i += 2
			continue
		case inString && c >= 0x7f:
			r, size := utf8.DecodeRune(compact[i:])
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
			i += size
			continue
		}
		out = append(out, c)
		inString = inString != (c == '"')
		if !inString && (c == ',' || c == ':') {
			out = append(out, ' ')
		}
		i++
	}

	return out
}
