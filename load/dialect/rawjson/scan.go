// Package rawjson reads JSON text in place, without allocation where it is plain.
//
// What goes in: the text of one JSON value. What comes out: its members and
// elements as parts of that text, strings and counts of them. What nests too deep
// for the scanner goes to encoding/json, with the same result. It knows no API.
package rawjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep Skip follows nested values; deeper ones are left to
// encoding/json.
const maxDepth = 200

// Scanner walks JSON text without allocating. It is strict: what it accepts,
// encoding/json accepts. A failure is final: everything after it reads nothing,
// and the caller lets encoding/json decide what the text means.
type Scanner struct {
	b      []byte
	i      int
	failed bool
}

// Scan returns a scanner at the start of data.
func Scan(data []byte) Scanner { return Scanner{b: data} }

// Fail makes the scanner fail: the caller cannot be sure what the text means.
func (s *Scanner) Fail() { s.failed = true }

// Pos returns the index of the next byte.
func (s *Scanner) Pos() int { return s.i }

// Complete reports whether nothing failed and only white space is left.
func (s *Scanner) Complete() bool { return !s.failed && s.Peek() == 0 && s.i >= len(s.b) }

// Peek moves over white space and returns the byte after it, 0 at the end.
func (s *Scanner) Peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// Enter consumes the opening byte of an object or array, if it comes next.
func (s *Scanner) Enter(open byte) bool {
	if s.failed || s.Peek() != open {
		return false
	}
	s.i++
	return true
}

// More moves to the next element; n counts them. It consumes the closing byte
// and returns false when there is none.
func (s *Scanner) More(n *int, closing byte) bool {
	if s.failed {
		return false
	}

	c := s.Peek()
	switch {
	case c == closing:
		s.i++
		return false
	case *n == 0:
	case c == ',':
		s.i++
		s.Peek()
	default:
		s.failed = true
		return false
	}

	*n++
	return true
}

// Key reads a member's name and its colon. It allocates where the name holds
// escapes.
func (s *Scanner) Key() []byte {
	name, escaped := s.Str()
	if s.Peek() != ':' {
		s.failed = true
		return nil
	}
	s.i++
	if escaped {
		return AppendUnquoted(nil, name)
	}
	return name
}

// Str reads a string and returns what is between the quotes.
func (s *Scanner) Str() (raw []byte, escaped bool) {
	if s.failed || s.Peek() != '"' {
		s.failed = true
		return nil, false
	}

	start := s.i + 1
	for i := start + PlainLen(s.b[start:]); i < len(s.b); i += PlainLen(s.b[i:]) {
		if s.b[i] == '"' {
			s.i = i + 1
			return s.b[start:i], escaped
		}
		n := EscapeLen(s.b[i:])
		if n == 0 {
			break
		}
		escaped = true
		i += n
	}

	s.failed = true
	return nil, false
}

// PlainLen returns how many bytes b begins with that stand for themselves in a
// string: no quote, backslash or control character. It looks at eight bytes at
// a time: in each test, the lowest bit that is set marks the first hit.
func PlainLen(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		hit := ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
		if hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}

// EscapeLen returns the length of the escape sequence at the start of b, 0 if
// it is not one.
func EscapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the value of the \uXXXX at the start of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}

	var v rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}

	return v
}

// AppendUnquoted appends the text of a string that str accepted. Bytes that
// are not UTF-8 stay as they are: a character may be split over two events.
func AppendUnquoted(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			dst = append(dst, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(raw[i-1:])
			i += 4
			if pair := utf16.DecodeRune(r, hex4(raw[i+1:])); pair != utf8.RuneError {
				r = pair
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}

	return dst
}

// Count moves over one value and returns it if it is a non-negative integer, else
// -1. It allocates nothing for integers of up to 15 plain digits.
func (s *Scanner) Count() int {
	const most = 15
	first := s.Peek()
	v, i := 0, s.i
	for ; i < len(s.b) && s.b[i] >= '0' && s.b[i] <= '9'; i++ {
		v = v*10 + int(s.b[i]-'0')
	}

	digits := i - s.i
	if digits == 0 || digits > most || digits > 1 && first == '0' ||
		i < len(s.b) && (s.b[i] == '.' || s.b[i] == 'e' || s.b[i] == 'E') {
		return number(s.Raw())
	}
	s.i = i
	return v
}

// Raw moves over one value of any kind, checking its syntax, and returns its
// text; nil if it fails.
func (s *Scanner) Raw() []byte {
	s.Peek()
	start := s.i
	s.Skip()
	if s.failed {
		return nil
	}
	return s.b[start:s.i]
}

// Skip moves over one value of any kind, checking its syntax.
func (s *Scanner) Skip() { s.skip(0) }

func (s *Scanner) skip(depth int) {
	if depth > maxDepth {
		s.failed = true
	}

	n := 0
	switch c := s.Peek(); {
	case s.failed:
	case c == '"':
		s.Str()
	case c == '{':
		s.i++
		for s.More(&n, '}') {
			s.Str()
			if s.failed || s.Peek() != ':' {
				s.failed = true
				return
			}
			s.i++
			s.skip(depth + 1)
		}
	case c == '[':
		s.i++
		for s.More(&n, ']') {
			s.skip(depth + 1)
		}
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *Scanner) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.failed = true
		return
	}
	s.i += len(word)
}

// number moves over a number by JSON's grammar.
func (s *Scanner) number() {
	s.accept('-', '-')
	if !s.accept('0', '0') && s.digits() == 0 {
		s.failed = true
		return
	}
	if s.accept('.', '.') && s.digits() == 0 {
		s.failed = true
		return
	}
	if s.accept('e', 'E') {
		s.accept('+', '-')
		if s.digits() == 0 {
			s.failed = true
		}
	}
}

func (s *Scanner) accept(a, b byte) bool {
	if s.i < len(s.b) && (s.b[s.i] == a || s.b[s.i] == b) {
		s.i++
		return true
	}
	return false
}

func (s *Scanner) digits() int {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i - start
}
