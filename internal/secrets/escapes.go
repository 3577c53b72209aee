package secrets

import (
	"encoding/json"
	"regexp"
	"strings"
)

// EscapeSequence is the expression of a control sequence of a terminal: CSI, or a
// string such as OSC up to its end, or two bytes. An unfinished string ends with the
// text.
const EscapeSequence = `(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?` +
	`|(?:\x1b[\]P^_X]|[\x{9d}\x{90}\x{9e}\x{9f}\x{98}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
	`|\x1b[ -/]*[0-~]?`

var escapeSequence = regexp.MustCompile(EscapeSequence)

// WithoutEscapes takes the control sequences of terminals out of a text.
func WithoutEscapes(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsAny(s, escapeStarts) {
		return s // as nearly all texts, of which reports have many
	}
	return escapeSequence.ReplaceAllString(s, "")
}

// escapeStarts begin a control sequence.
const escapeStarts = "\x1b\u009b\u009d\u0090\u009e\u009f\u0098"

// joined is the text without secrets that control sequences split: removing the
// sequences later would put such a secret together again. If the text has no such
// secret, ok is false and the sequences stay.
func (r *Redactor) joined(text string) (hidden string, ok bool) {
	if !strings.ContainsAny(text, escapeStarts) {
		return text, false
	}
	plain := WithoutEscapes(text)
	hidden = r.replacer.Replace(plain)

	return hidden, hidden != plain
}

// joinedJSON is joined for what is between the quotes of a JSON string.
func (r *Redactor) joinedJSON(within string) (hidden string, ok bool) {
	if !strings.Contains(within, `\u00`) && !strings.ContainsAny(within, escapeStarts) {
		return within, false
	}
	var text string
	if json.Unmarshal([]byte(`"`+within+`"`), &text) != nil {
		return within, false
	}
	if text, ok = r.joined(text); !ok {
		return within, false
	}

	return jsonText(text), true
}
