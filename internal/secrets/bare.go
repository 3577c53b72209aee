package secrets

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// bare is a text without what quoting adds to it, however often and in whatever
// languages it was quoted: backslashes, quotation marks and NUL bytes are left out,
// and escapes (\n, \x41, \101, \u0041) are what they stand for.
type bare struct {
	text       string
	start, end []int // of what each byte of text stands for, in the original
}

func bareOf(original string) bare {
	s, place := withoutPadding(original)
	var out strings.Builder
	b := bare{}
	for i := 0; i < len(s); {
		begin := i
		for i < len(s) && s[i] == '\\' {
			i++
		}
		if i == len(s) {
			break
		}

		piece, n := s[i:i+1], 1
		if i > begin {
			piece, n = unescape(s[i:])
		}
		i += n
		if piece == "'" || piece == `"` {
			continue
		}
		out.WriteString(piece)
		for range len(piece) {
			b.start, b.end = append(b.start, place[begin]), append(b.end, place[i-1]+1)
		}
	}
	b.text = out.String()

	return b
}

// withoutPadding leaves out NUL bytes, which UTF-16 puts between letters, as they
// are or escaped. place is where each byte stood.
func withoutPadding(s string) (text string, place []int) {
	var out strings.Builder
	for i := 0; i < len(s); {
		skip := 0
		for _, nul := range []string{"\x00", `\u0000`, `\x00`} {
			if strings.HasPrefix(s[i:], nul) {
				skip = len(nul)
			}
		}
		if skip == 0 {
			out.WriteByte(s[i])
			place = append(place, i)
			skip = 1
		}
		i += skip
	}
	return out.String(), place
}

// unescape is what follows backslashes, and of how many bytes of s it is.
func unescape(s string) (piece string, n int) {
	const octal = 3
	switch c := s[0]; {
	case c == 'n':
		return "\n", 1
	case c == 't':
		return "\t", 1
	case c == 'r':
		return "\r", 1
	case c == 'x':
		if v, ok := number(s, 1, 2, 16); ok {
			return string([]byte{byte(v)}), 3
		}
	case c == 'u':
		return unicodeEscape(s)
	case c == 'U':
		if v, ok := number(s, 1, 8, 16); ok {
			return string(rune(v)), 9
		}
	case c >= '0' && c <= '3':
		if v, ok := number(s, 0, octal, 8); ok {
			return string([]byte{byte(v)}), octal
		}
	}

	_, n = utf8.DecodeRuneInString(s)
	return s[:n], n
}

// unicodeEscape is uXXXX, or two of them that are one character.
func unicodeEscape(s string) (piece string, n int) {
	const length = 5
	first, ok := number(s, 1, length-1, 16)
	if !ok {
		return s[:1], 1
	}
	if !utf16.IsSurrogate(rune(first)) {
		return string(rune(first)), length
	}

	rest := strings.TrimLeft(s[length:], `\`)
	if second, ok := number(rest, 1, length-1, 16); ok && rest[0] == 'u' {
		return string(utf16.DecodeRune(rune(first), rune(second))), len(s) - len(rest) + length
	}
	return string(utf8.RuneError), length
}

// number reads digits of s from an index on.
func number(s string, from, digits, base int) (uint64, bool) {
	if len(s) < from+digits {
		return 0, false
	}
	v, err := strconv.ParseUint(s[from:from+digits], base, 32)
	return v, err == nil
}

// quotable reports whether quoting changes a value.
func quotable(value string) bool {
	const kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,"
	return strings.Trim(value, kept) != ""
}

// unquoted is the text without the secrets that were quoted several times, or as
// UTF-16.
func (r *Redactor) unquoted(text string) string {
	padded := strings.ContainsAny(text, "\x00") || strings.Contains(text, `\u0000`) || strings.Contains(text, `\x00`)
	if !padded && (!r.quotable || !strings.ContainsAny(text, `\'"`)) {
		return text
	}

	b := bareOf(text)
	var out strings.Builder
	copied := 0
	for at := 0; at < len(b.text); {
		length := r.bareAt(b.text[at:])
		if length == 0 {
			at++
			continue
		}
		out.WriteString(text[copied:b.start[at]] + Hidden)
		at += length
		copied = b.end[at-1]
	}
	if copied == 0 {
		return text
	}

	return out.String() + text[copied:]
}

// bareAt is the length of the secret with which a bare text begins; 0: none.
func (r *Redactor) bareAt(text string) int {
	for _, value := range r.bare {
		if strings.HasPrefix(text, value) {
			return len(value)
		}
	}
	return 0
}
