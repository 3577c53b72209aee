package text

import (
	"strings"
	"unicode"

	"github.com/benchrig/bench/internal/secrets"
)

// WithoutEscapes takes the control sequences of terminals out of a text.
func WithoutEscapes(s string) string { return secrets.WithoutEscapes(s) }

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
