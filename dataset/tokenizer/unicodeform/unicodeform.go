// Package unicodeform normalizes text as the Unicode standard says.
//
// What goes in: a form and a text. What comes out: the text in that form, long runs
// of combining characters included.
package unicodeform

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longMarks is how many combining characters in a row golang.org/x/text takes
// without putting U+034F among them, with a margin for decompositions.
const longMarks = 8

// Of is text in a form. golang.org/x/text makes it but for long runs of combining
// characters, which are ordered and composed here.
func Of(form norm.Form, text string) string {
	if !hasLongMarks(text) {
		return form.String(text)
	}
	return slowForm(form, text)
}

func hasLongMarks(text string) bool {
	run := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			run = 0
			i++
			continue
		}
		p := norm.NFKD.PropertiesString(text[i:])
		if p.CCC() == 0 && p.LeadCCC() == 0 && p.TrailCCC() == 0 {
			run = 0
		} else if run++; run > longMarks {
			return true
		}
		i += max(1, p.Size())
	}

	return false
}

// mark is a character with its combining class.
type mark struct {
	r     rune
	class uint8
}

// slowForm decomposes every character, orders the marks and composes them.
func slowForm(form norm.Form, text string) string {
	apart, compose := norm.NFD, form == norm.NFC || form == norm.NFKC
	if form == norm.NFKC || form == norm.NFKD {
		apart = norm.NFKD
	}

	var marks []mark
	for _, r := range text {
		for _, d := range apart.String(string(r)) {
			marks = append(marks, mark{d, norm.NFD.PropertiesString(string(d)).CCC()})
		}
	}

	orderMarks(marks)
	if compose {
		marks = composeMarks(marks)
	}

	out := make([]byte, 0, len(text))
	for _, m := range marks {
		out = utf8.AppendRune(out, m.r)
	}

	return string(out)
}

// orderMarks sorts each run of combining characters by class.
func orderMarks(marks []mark) {
	for start := 0; start < len(marks); {
		end := start
		for end < len(marks) && marks[end].class != 0 {
			end++
		}
		slices.SortStableFunc(marks[start:end], func(a, b mark) int { return int(a.class) - int(b.class) })
		start = end + 1
	}
}

// composeMarks joins each mark with the base before it where one character
// stands for both and nothing between them blocks it.
func composeMarks(marks []mark) []mark {
	out := marks[:0]
	base := -1
	for _, m := range marks {
		if base >= 0 {
			last := out[len(out)-1]
			adjacent := len(out)-1 == base
			if adjacent || last.class != 0 && last.class < m.class {
				if both, ok := composed(out[base].r, m.r); ok {
					out[base].r = both
					continue
				}
			}
		}
		out = append(out, m)
		if m.class == 0 {
			base = len(out) - 1
		}
	}

	return out
}

func composed(a, b rune) (rune, bool) {
	both := norm.NFC.String(string(a) + string(b))
	r, size := utf8.DecodeRuneInString(both)
	return r, size == len(both)
}
