package secrets

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Hidden replaces a secret.
const Hidden = "***"

// Redactor hides values in text. The zero Redactor and a nil one hide nothing.
type Redactor struct {
	replacer *strings.Replacer
	forms    []string            // the longest first
	starts   map[string][]string // the same by how they begin
	bare     []string            // the values as bareOf has them, the longest first
	quotable bool                // quoting changes one of the values
}

// NewRedactor hides the values given, each in every form that Forms lists. An
// empty value is ignored; the caller leaves out values that are too short to
// be distinguished from words.
func NewRedactor(values []string) *Redactor {
	forms := map[string]bool{}
	for _, value := range values {
		for _, form := range Forms(value) {
			forms[form] = true
		}
	}
	if len(forms) == 0 {
		return &Redactor{}
	}

	sorted := make([]string, 0, len(forms))
	for form := range forms {
		sorted = append(sorted, form)
	}
	// The longest first: one value may be the beginning of another.
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })

	pairs := make([]string, 0, 2*len(sorted))
	for _, form := range sorted {
		pairs = append(pairs, form, Hidden)
	}

	r := &Redactor{replacer: strings.NewReplacer(pairs...), forms: sorted, starts: byStart(sorted)}
	for _, value := range values {
		if text := bareOf(value).text; len(text) >= shortest {
			r.bare = append(r.bare, text)
			r.quotable = r.quotable || quotable(value)
		}
	}
	slices.SortFunc(r.bare, func(a, b string) int { return len(b) - len(a) })
	return r
}

// Empty reports whether the redactor hides nothing.
func (r *Redactor) Empty() bool { return r == nil || r.replacer == nil }

// Text is the text without secrets.
func (r *Redactor) Text(text string) string {
	if r.Empty() {
		return text
	}
	text = r.unquoted(r.replacer.Replace(text))
	if hidden, split := r.joined(text); split {
		text = hidden
	}
	return r.wrapped(text)
}

// Beginning is the first most bytes of a text without secrets. A secret that stands
// across the cut is recognised, which it would not be afterwards.
func (r *Redactor) Beginning(text string, most int) string {
	const longest = 8 << 10 // of the forms of most secrets
	text = r.Text(text[:min(len(text), most+longest)])
	return text[:min(len(text), most)]
}

// Part is a piece of a longer text without secrets, not even with the part of
// one that the cut has left at either end.
func (r *Redactor) Part(text string) string {
	if r.Empty() {
		return text
	}

	text = r.Text(text)
	for _, form := range r.forms {
		for n := min(len(form)-1, len(text)); n >= shortest; n-- {
			if strings.HasSuffix(text, form[:n]) {
				text = text[:len(text)-n] + Hidden
				break
			}
		}
		for n := min(len(form)-1, len(text)); n >= shortest; n-- {
			if strings.HasPrefix(text, form[len(form)-n:]) {
				text = Hidden + text[n:]
				break
			}
		}
	}
	return text
}

// JSON is a JSON text, or several, without secrets: they are looked for within
// strings only, so that a number with the digits of a secret stays a number.
func (r *Redactor) JSON(text []byte) []byte {
	if r.Empty() {
		return text
	}

	var out []byte // nil: nothing has changed so far
	copied := 0
	for at := 0; at < len(text); {
		start := bytes.IndexByte(text[at:], '"')
		if start < 0 {
			break
		}
		start += at + 1
		end := endOfString(text, start)
		within := string(text[start:end])
		hidden := r.unquoted(r.replacer.Replace(within))
		if whole, split := r.joinedJSON(hidden); split {
			hidden = whole
		}
		if hidden != within {
			out = append(append(out, text[copied:start]...), hidden...)
			copied = end
		}
		at = end + 1
	}

	if copied == 0 {
		return text
	}
	return append(out, text[copied:]...)
}

// endOfString is the index of the quote that ends the JSON string that begins
// at start, or the end of the text.
func endOfString(text []byte, start int) int {
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
