package text

import (
	"io"
	"regexp"

	"github.com/benchrig/bench/internal/secrets"
)

// Terminal passes on what is written without commands to the terminal: messages hold
// words of servers, tools and files. Colours that bench uses stay, and what moves the
// cursor at the beginning of a write, by which bench draws over its own lines.
type Terminal struct{ W io.Writer }

const (
	controls = secrets.EscapeSequence +
		`|[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`
	colour = `(?:[012]|3[1-6])` // no other: text of others could hide what follows it
)

var (
	moves         = regexp.MustCompile(`^(?:\r|\x1b\[[0-9]*[AJK])*`)
	commands      = regexp.MustCompile(controls)
	allButColours = regexp.MustCompile(`(\x1b\[` + colour + `(?:;` + colour + `)*m)|` + controls)
)

// Write writes the text without commands and says that all of it was written.
func (t Terminal) Write(b []byte) (int, error) {
	n := len(moves.Find(b))
	shown := append(b[:n:n], allButColours.ReplaceAll(b[n:], []byte("$1"))...)
	if _, err := t.W.Write(shown); err != nil {
		return 0, err
	}
	return len(b), nil
}

// WithoutCommands takes out of a text what a terminal would act on, colours included,
// and what turns the direction of writing. Tabs and line breaks stay.
func WithoutCommands(s string) string { return commands.ReplaceAllString(s, "") }

// OnlyColours is WithoutCommands but for the colours that bench uses.
func OnlyColours(s string) string { return allButColours.ReplaceAllString(s, "$1") }
