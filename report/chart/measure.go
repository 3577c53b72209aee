package chart

import (
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"
)

// Sizes of text, in units of the view box; Style says the same.
const (
	textSize vg.Length = 12
	tickSize vg.Length = 11
)

// textWidth estimates how wide text is in a common sans-serif face. The
// page's font is not known, so the estimate is on the wide side.
func textWidth(s string, size vg.Length) vg.Length {
	width := 0.0
	for _, r := range clean(s) {
		width += runeWidth(r)
	}
	return vg.Length(width) * size
}

// runeWidth is in shares of the font's size.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljI.,:;'|!", r):
		return 0.3
	case strings.ContainsRune("frt()[]{}-/\\ ", r):
		return 0.38
	case strings.ContainsRune("mwMW%@", r):
		return 0.92
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0xff00):
		return 1.05
	case unicode.IsUpper(r):
		return 0.7
	}
	return 0.58
}

// cut shortens text to a width, with an ellipsis where something was left out.
func cut(s string, size, width vg.Length) string {
	s = strings.TrimSpace(clean(s))
	if textWidth(s, size) <= width {
		return s
	}
	width -= textWidth("…", size)
	var b strings.Builder
	at := vg.Length(0)
	for _, r := range s {
		at += vg.Length(runeWidth(r)) * size
		if at > width {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String()) + "…"
}
