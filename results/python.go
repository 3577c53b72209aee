package results

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// pythonic is data, the JSON of value, as Python's json.dump writes it: a
// blank after commas between items, floats with a point, and no character
// beyond ASCII.
func pythonic(value any, data []byte) []byte {
	switch v := value.(type) {
	case float64:
		return []byte(PythonFloat(v))
	case *float64:
		if v != nil {
			return []byte(PythonFloat(*v))
		}
	case string:
		return []byte(pythonString(v))
	case *string:
		if v != nil {
			return []byte(pythonString(*v))
		}
	case []float64:
		return pythonList(v, PythonFloat)
	case [][]float64:
		return pythonList(v, func(list []float64) string { return string(pythonList(list, PythonFloat)) })
	case []string:
		return pythonList(v, pythonString)
	case []*string:
		return pythonList(v, func(s *string) string {
			if s == nil {
				return "null"
			}
			return pythonString(*s)
		})
	case []*int:
		return pythonList(v, func(n *int) string {
			if n == nil {
				return "null"
			}
			return strconv.Itoa(*n)
		})
	}

	return data
}

func pythonList[T any](list []T, of func(T) string) []byte {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = of(v)
	}
	return []byte("[" + strings.Join(parts, ", ") + "]")
}

// PythonFloat is repr(v): the shortest digits, with an exponent below 1e-4 and
// from 1e16 on.
func PythonFloat(v float64) string {
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

// pythonString quotes as json.dumps does with ensure_ascii.
func pythonString(s string) string {
	quoted, err := json.Marshal(s) // replaces what is not UTF-8
	if err != nil {
		return `""`
	}

	var plain string
	if json.Unmarshal(quoted, &plain) != nil {
		return `""`
	}

	var b strings.Builder
	b.WriteByte('"')
	for _, r := range plain {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r >= ' ' && r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			writeEscape(&b, high)
			writeEscape(&b, low)
		default:
			writeEscape(&b, r)
		}
	}

	b.WriteByte('"')
	return b.String()
}

func writeEscape(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	b.WriteString(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.WriteByte(hex[r>>shift&0xf])
	}
}
