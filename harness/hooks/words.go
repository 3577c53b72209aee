package hooks

import (
	"io"
	"strings"
	"unicode"

	"github.com/benchrig/bench/internal/text"
)

const (
	keptBytes = 8 << 10 // of a command's output
	keptLines = 5       // of these
	keptWidth = 300     // runes of a line
)

// tailOf reads to the end and returns the last part of what it read.
func tailOf(from io.Reader) string {
	kept := make([]byte, 0, 2*keptBytes)
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		kept = append(kept, buf[:n]...)
		if len(kept) > keptBytes {
			kept = append(kept[:0], kept[len(kept)-keptBytes:]...)
		}
		if err != nil {
			return string(kept)
		}
	}
}

// lastLines are the last lines that say something, without what moves a
// terminal's cursor.
func lastLines(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-keptLines):], "\n")
}

func printable(line string) string {
	line = strings.Map(func(c rune) rune {
		if c == '\t' {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, text.WithoutEscapes(line))
	if runes := []rune(line); len(runes) > keptWidth {
		line = string(runes[:keptWidth]) + "..."
	}
	return strings.TrimSpace(line)
}
