package schema

import "regexp"

// jsonNumber is the grammar under which a plain YAML scalar counts as a
// number. Other spellings that some YAML readers take for numbers (0x10,
// 1_000, 010, .5) stay text, so that an engine gets them as they were written.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Classify says what a plain scalar is, by YAML 1.2: yes, no, on and off are
// text.
func Classify(s string) kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Boolean
	}
	if jsonNumber.MatchString(s) {
		return Number
	}
	return Text
}
