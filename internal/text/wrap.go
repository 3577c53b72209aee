package text

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// wrap breaks a line at blanks so that none of its parts is wider than width,
// where its words allow that. Parts after the first are indented by two columns
// more than the line is. A width below 20 leaves the line as it is.
func wrap(line string, width int) string {
	if utf8.RuneCountInString(line) <= width || width < 20 {
		return line
	}

	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	var out strings.Builder
	for rest := line; ; {
		end := breakAt(rest, width)
		out.WriteString(strings.TrimRight(rest[:end], " "))
		rest = strings.TrimLeft(rest[end:], " ")
		if rest == "" {
			return out.String()
		}
		rest = "  " + indent + rest
		out.WriteByte('\n')
	}
}

// breakAt is where a line is cut: at its last blank within width, else at its
// first one, else at its end. Blanks that begin the line do not count.
func breakAt(line string, width int) int {
	first, last, column := 0, 0, 0
	words := false // seen any
	for i, r := range line {
		switch {
		case r != ' ':
			words = true
		case !words:
		case column <= width:
			last = i
		case first == 0:
			first = i
		}
		column++
	}

	switch {
	case column <= width:
		return len(line)
	case last > 0:
		return last
	case first > 0:
		return first
	}
	return len(line)
}

// Wrapper writes whole lines wrapped at the terminal's width. What moves the
// cursor or has colours is written as it is, since its own printer has laid it
// out; so is everything where Width is nil or says 0.
type Wrapper struct {
	W     io.Writer
	Width func() int // columns; 0: not known
}

// Write writes one or several lines.
func (w Wrapper) Write(b []byte) (int, error) {
	width := 0
	if w.Width != nil {
		width = w.Width()
	}
	if width == 0 || bytes.ContainsAny(b, "\r\x1b") {
		return w.W.Write(b)
	}

	lines := strings.Split(string(b), "\n")
	for i, line := range lines {
		lines[i] = wrap(line, width)
	}
	if _, err := io.WriteString(w.W, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}

	return len(b), nil
}

// WrapCommand breaks a command line at blanks that are not quoted, so that a
// shell takes the lines as one. A comment at its end is not broken.
func WrapCommand(line string, width int) string {
	if utf8.RuneCountInString(line) <= width || width < 20 {
		return line
	}

	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	command, comment, _ := strings.Cut(line, "   # ")
	if comment != "" {
		comment = "   # " + comment
	}

	const mark = 2 // columns of " \"
	var out strings.Builder
	out.WriteString(indent)
	column := len(indent)
	words := withValues(shellWords(command))
	for i, word := range words {
		size := utf8.RuneCountInString(word)
		room := width - mark
		if i == len(words)-1 {
			room = width
		}
		switch {
		case i == 0:
		case column+1+size > room:
			out.WriteString(" \\\n    " + indent)
			column = len(indent) + 4
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += size
	}

	return out.String() + comment
}

// withValues joins each flag with the value that follows it.
func withValues(words []string) []string {
	var out []string
	for _, word := range words {
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], "-") && !strings.Contains(out[n-1], " ") &&
			!strings.HasPrefix(word, "-") {
			out[n-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// shellWords splits a command line at blanks outside of single quotes.
func shellWords(s string) []string {
	var words []string
	quoted := false
	start := -1

	for i, r := range s {
		if r == '\'' {
			quoted = !quoted
		}

		if blank := r == ' ' && !quoted; blank {
			if start >= 0 {
				words = append(words, s[start:i])
			}
			start = -1
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words
}
