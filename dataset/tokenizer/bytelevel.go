package tokenizer

import "strings"

// byteLevelExpr is how GPT-2 cuts words.
const byteLevelExpr = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

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
