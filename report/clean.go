package report

import (
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// clean makes text that others wrote (a server's log, a scenario) fit for one
// line of a report: without escape sequences and control characters, which
// could rewrite the terminal.
func clean(s string) string {
	s = text.StripEscape(s)
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// tail is the last n of lines, cleaned.
func tail(lines []string, n int) []string {
	last := lines[max(0, len(lines)-n):]
	cleaned := make([]string, len(last))
	for i, line := range last {
		cleaned[i] = clean(line)
	}
	return cleaned
}
