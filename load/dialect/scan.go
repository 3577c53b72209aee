package dialect

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep the scanner follows nested values; deeper ones are left
// to encoding/json.
const maxDepth = 200

// scanner walks JSON text without allocating. It is strict: what it accepts,
// encoding/json accepts. Trouble of any sort sets odd and is final; the caller
// then lets encoding/json decide.
type scanner struct {
	b      []byte
	i      int
	failed bool
}

// space moves over white space and returns the byte after it, 0 at the end.
func (s *scanner) space() byte {
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

// enter consumes the opening byte of an object or array, if it comes next.
func (s *scanner) enter(open byte) bool {
	if s.failed || s.space() != open {
		return false
	}
	s.i++
	return true
}

// more moves to the next element; n counts them. It consumes the closing byte
// and returns false when there is none.
func (s *scanner) more(n *int, closing byte) bool {
	if s.failed {
		return false
	}

	c := s.space()
	switch {
	case c == closing:
		s.i++
		return false
	case *n == 0:
	case c == ',':
		s.i++
		s.space()
	default:
		s.failed = true
		return false
	}

	*n++
	return true
}

// key reads a member's name and its colon. Names with escapes are odd.
func (s *scanner) key() []byte {
	name, escaped := s.str()
	if escaped || s.space() != ':' {
		s.failed = true
		return nil
	}
	s.i++
	return name
}

// str reads a string and returns what is between the quotes.
func (s *scanner) str() (raw []byte, escaped bool) {
	if s.failed || s.space() != '"' {
		s.failed = true
		return nil, false
	}

	start := s.i + 1
	for i := start + plainLen(s.b[start:]); i < len(s.b); i += plainLen(s.b[i:]) {
		if s.b[i] == '"' {
			s.i = i + 1
			return s.b[start:i], escaped
		}
		n := escapeLen(s.b[i:])
		if n == 0 {
			break
		}
		escaped = true
		i += n
	}

	s.failed = true
	return nil, false
}

// plainLen returns how many bytes b begins with that stand for themselves in a
// string: no quote, backslash or control character. It looks at eight bytes at
// a time: in each test, the lowest bit that is set marks the first hit.
func plainLen(b []byte) int {
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

// escapeLen returns the length of the escape sequence at the start of b, 0 if
// it is not one.
func escapeLen(b []byte) int {
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

// appendUnquoted appends the text of a string that str accepted. Bytes that
// are not UTF-8 stay as they are: a character may be split over two events.
func appendUnquoted(dst, raw []byte) []byte {
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

// count reads a small plain non-negative integer. Other numbers are odd; other
// values are skipped and give -1.
func (s *scanner) count() int {
	c := s.space()
	if c != '-' && (c < '0' || c > '9') {
		s.skip(0)
		return -1
	}

	start := s.i
	v := 0
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		v = v*10 + int(s.b[s.i]-'0')
		s.i++
	}

	digits := s.i - start
	after := byte(0)
	if s.i < len(s.b) {
		after = s.b[s.i]
	}
	if digits == 0 || digits > 15 || (digits > 1 && c == '0') || after == '.' || after == 'e' || after == 'E' {
		s.failed = true
		return -1
	}

	return v
}

// skip moves over one value of any kind, checking its syntax.
func (s *scanner) skip(depth int) {
	if depth > maxDepth {
		s.failed = true
	}

	n := 0
	switch c := s.space(); {
	case s.failed:
	case c == '"':
		s.str()
	case c == '{':
		s.i++
		for s.more(&n, '}') {
			s.str()
			if s.failed || s.space() != ':' {
				s.failed = true
				return
			}
			s.i++
			s.skip(depth + 1)
		}
	case c == '[':
		s.i++
		for s.more(&n, ']') {
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

func (s *scanner) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.failed = true
		return
	}
	s.i += len(word)
}

// number moves over a number by JSON's grammar.
func (s *scanner) number() {
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

func (s *scanner) accept(a, b byte) bool {
	if s.i < len(s.b) && (s.b[s.i] == a || s.b[s.i] == b) {
		s.i++
		return true
	}
	return false
}

func (s *scanner) digits() int {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i - start
}

// atEnd reports whether only white space is left.
func (s *scanner) atEnd() bool { return s.space() == 0 && s.i >= len(s.b) }
