package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// byteLevelExpr is how GPT-2 cuts words.
const byteLevelExpr = gpt2Expr + `|\s+`

// byteAlphabet writes each byte as a printable character: itself where it is
// one, else the next free character from U+0100 on.
type byteAlphabet struct {
	runes [256]rune
	bytes map[rune]byte
}

func newByteAlphabet() *byteAlphabet {
	a := &byteAlphabet{bytes: make(map[rune]byte, 256)}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if !printableByte(r) {
			r = next
			next++
		}
		a.runes[b] = r
		a.bytes[r] = byte(b)
	}
	return a
}

func printableByte(r rune) bool {
	return r >= '!' && r <= '~' || r >= 0xa1 && r <= 0xac || r >= 0xae && r <= 0xff
}

// encode writes the bytes of s in the alphabet.
func (a *byteAlphabet) encode(s string) string {
	var out strings.Builder
	out.Grow(2 * len(s))
	for _, b := range []byte(s) {
		out.WriteRune(a.runes[b])
	}
	return out.String()
}

// appendBytes appends what s stands for; a string with a character from
// outside the alphabet stands for itself.
func (a *byteAlphabet) appendBytes(dst []byte, s string) []byte {
	start := len(dst)
	for _, r := range s {
		b, ok := a.bytes[r]
		if !ok {
			return append(dst[:start], s...)
		}
		dst = append(dst, b)
	}
	return dst
}

// byteLevel is the pre-tokenizer of GPT-2. The bytes are written in the
// alphabet here unless the model does it.
type byteLevel struct {
	prefixSpace bool
	words       splitter // nil: the piece is not cut
	alphabet    *byteAlphabet
	modelMaps   bool
}

func (b *byteLevel) split(dst []piece, p piece) ([]piece, error) {
	if b.prefixSpace && !strings.HasPrefix(p.text, " ") {
		p.text = " " + p.text
	}

	start := len(dst)
	if b.words == nil {
		dst = append(dst, p)
	} else {
		var err error
		if dst, err = b.words.split(dst, p); err != nil {
			return nil, err
		}
	}

	if !b.modelMaps {
		for i := start; i < len(dst); i++ {
			dst[i].text = b.alphabet.encode(dst[i].text)
		}
	}

	return dst, nil
}

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
