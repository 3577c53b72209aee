package chart

import (
	"strings"
	"unicode"
)

// Sizes of text, in units of the view box; Style says the same.
const (
	textSize length = 12
	tickSize length = 11
)

// textWidth estimates how wide text is in a common sans-serif face. The
// page's font is not known, so the estimate is that of a wide one, DejaVu Sans.
func textWidth(s string, size length) length {
	width := 0.0
	for _, r := range clean(s) {
		width += runeWidth(r)
	}
	return length(width) * size
}

// runeWidth is in shares of the font's size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljI.,:;'|!", r):
		return 0.3
	case strings.ContainsRune("frt()[]{}-/\\ ", r):
		return 0.38
	case strings.ContainsRune("mwMW%@", r):
		return 0.98
	case strings.ContainsRune("<>=+~#^", r):
		return 0.84
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0xff00):
		return 1.05
	case unicode.IsUpper(r):
		return 0.75
	}

	return 0.63
}

// cut shortens text to a width, with an ellipsis in its middle: names of
// variants often differ in their ends.
func cut(s string, size, width length) string {
	s = strings.TrimSpace(clean(s))
	if textWidth(s, size) <= width {
		return s
	}

	width -= textWidth("…", size)
	runes := []rune(s)
	from, to := 0, len(runes)
	for at := length(0); from < to; {
		next := runes[from]
		if fromEnd := from > len(runes)-to; fromEnd {
			next = runes[to-1]
		}
		at += length(runeWidth(next)) * size
		if at > width {
			break
		}
		if from > len(runes)-to {
			to--
			continue
		}
		from++
	}

	return strings.TrimSpace(string(runes[:from])) + "…" + strings.TrimSpace(string(runes[to:]))
}
