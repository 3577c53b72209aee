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

// labels writes names beside points so that none covers a point or another
// name. A name without room is not written: the point's tooltip has it.
type labels struct {
	f       *frame
	taken   []rectangle
	written int
}

// block keeps names off a point.
func (l *labels) block(at point, r length) {
	l.taken = append(l.taken, rectangle{
		Min: point{X: at.X - r, Y: at.Y - r},
		Max: point{X: at.X + r, Y: at.Y + r},
	})
}

// titleGap is free above the plotting area, below the title of its axis.
const titleGap length = 6

// labelMost is how wide a name may be.
const labelMost length = 170

func (l *labels) write(at point, name string) {
	if name == "" || l.written == namedPoints {
		return
	}

	name = cut(name, tickSize, labelMost)
	w, h := textWidth(name, tickSize), tickSize+1
	for _, try := range []struct {
		anchor string
		x, y   length // lower left corner from the point
	}{
		{"start", 8, -4},
		{"end", -8 - w, -4},
		{"middle", -w / 2, 8},
		{"middle", -w / 2, -8 - h},
		{"start", 6, 6},
		{"end", -6 - w, 6},
		{"start", 6, -6 - h},
		{"end", -6 - w, -6 - h},
	} {
		r := rectangle{Min: point{X: at.X + try.x, Y: at.Y + try.y}}
		r.Max = point{X: r.Min.X + w, Y: r.Min.Y + h}
		if !l.free(r) {
			continue
		}
		l.taken, l.written = append(l.taken, r), l.written+1
		x := r.Min.X
		switch try.anchor {
		case "middle":
			x += w / 2
		case "end":
			x += w
		}
		l.f.c.text(point{X: x, Y: r.Min.Y + 3}, try.anchor, "n", name)
		return
	}
}

// free reports whether nothing is there, inside the canvas.
func (l *labels) free(r rectangle) bool {
	if r.Min.X < l.f.area.Min.X || r.Max.X > l.f.c.w-2 || r.Min.Y < l.f.area.Min.Y ||
		r.Max.Y > l.f.area.Max.Y+titleGap {
		return false
	}
	for _, t := range l.taken {
		if r.Min.X < t.Max.X && t.Min.X < r.Max.X && r.Min.Y < t.Max.Y && t.Min.Y < r.Max.Y {
			return false
		}
	}
	return true
}
