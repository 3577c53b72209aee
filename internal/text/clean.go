package text

import (
	"regexp"
	"strings"
	"unicode"
)

// escapeSequence is a control sequence of a terminal: CSI, or a string such as
// OSC up to its end, or two bytes. An unfinished string ends with the text.
var escapeSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?` +
	`|(?:\x1b[\]P^_X]|[\x{9d}\x{90}\x{9e}\x{9f}\x{98}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?` +
	`|\x1b[ -/]*[0-~]?`)

// WithoutEscapes takes the control sequences of terminals out of a text.
func WithoutEscapes(s string) string {
	return escapeSequence.ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
}

// Clean makes text that others wrote (a server's log, a scenario) fit for one
// line: without escape sequences, which could rewrite the terminal, and with a
// blank for each character that is not printed.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, WithoutEscapes(s))

	return strings.TrimSpace(s)
}

// CleanLines cleans each line of a text, and keeps its indentation.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		lines[i] = indent + Clean(line)
	}

	return strings.Join(lines, "\n")
}

// CleanAll cleans each of some texts.
func CleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = Clean(s)
	}

	return out
}

// Tail is the last n lines, cleaned.
func Tail(lines []string, n int) []string { return CleanAll(lines[max(0, len(lines)-n):]) }
