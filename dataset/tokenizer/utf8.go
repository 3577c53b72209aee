package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// lossyUTF8 puts one U+FFFD in place of each maximal part of a character that
// is not whole, as the Unicode standard recommends and Rust and Python do;
// strings.ToValidUTF8 takes a whole run together.
func lossyUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}

	var out strings.Builder
	out.Grow(len(s) + 8)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			size = brokenLen(s)
			out.WriteRune(utf8.RuneError)
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}

	return out.String()
}

// brokenLen is how many bytes at the start of s, where no character begins
// whole, could still have been the start of one.
func brokenLen(s string) int {
	low, high, want := byte(0x80), byte(0xbf), 0
	switch c := s[0]; {
	case c >= 0xc2 && c <= 0xdf:
		want = 1
	case c >= 0xe0 && c <= 0xef:
		want = 2
	case c >= 0xf0 && c <= 0xf4:
		want = 3
	}

	switch s[0] { // no longer forms than needed, no surrogates, none above U+10FFFF
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}

	n := 1
	for n <= want && n < len(s) && s[n] >= low && s[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}

	return n
}
