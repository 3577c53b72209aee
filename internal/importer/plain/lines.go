package plain

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Line is a line as a terminal shows it, with its number in the file.
type Line struct {
	No   int
	Text string // without escape sequences and blanks at its end
}

var (
	escapes  = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])`)
	progress = regexp.MustCompile(`\d+%\||\bit/s[\],]|\bs/it[\],]`)
)

// Lines splits text into lines. Of what a carriage return overwrote, progress
// bars are left out and counted.
func Lines(text []byte) (lines []Line, overwritten int) {
	no := 0
	for raw := range bytes.Lines(text) {
		no++
		line := strings.TrimRight(string(raw), "\r\n")
		if strings.IndexByte(line, 0x1b) >= 0 {
			line = escapes.ReplaceAllString(line, "")
		}
		if strings.IndexByte(line, '\r') < 0 {
			lines = append(lines, Line{no, strings.TrimRight(line, " \t")})
			continue
		}
		parts := strings.Split(line, "\r")
		for i, part := range parts {
			part = strings.TrimRight(part, " \t")
			if i < len(parts)-1 && (part == "" || IsProgress(part)) {
				if part != "" {
					overwritten++
				}
				continue
			}
			lines = append(lines, Line{no, part})
		}
	}

	return lines, overwritten
}

// MaxText bounds a line that is kept, in bytes.
const MaxText = 4 << 10

// Shown returns a line as it is kept: without control characters, long runs of
// characters beyond ASCII, such as bars, cut to 16, and at most MaxText bytes.
func Shown(text string) string {
	var b strings.Builder
	run := 0
	for _, r := range text {
		if b.Len() >= MaxText {
			b.WriteString("...")
			break
		}
		switch {
		case r < ' ' && r != '\t':
			continue
		case r >= utf8.RuneSelf:
			run++
		default:
			run = 0
		}
		const longest = 16
		if run <= longest {
			b.WriteRune(r)
		}
	}

	return b.String()
}

// IsProgress reports whether a line is a progress bar.
func IsProgress(text string) bool {
	return (strings.Contains(text, "%|") || strings.Contains(text, "it/s") || strings.Contains(text, "s/it")) &&
		progress.MatchString(text)
}
