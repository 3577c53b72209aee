package text

import (
	"io"
	"regexp"

	"github.com/benchrig/bench/internal/secrets"
)

// Terminal passes on what is written without commands to the terminal: messages hold
// words of servers, tools and files. Colours stay, and what moves the cursor at the
// beginning of a write, by which bench draws over its own lines.
type Terminal struct{ W io.Writer }

var (
	ownMoves = regexp.MustCompile(`^(?:\r|\x1b\[[0-9]*[AJK])*`)
	commands = regexp.MustCompile(`(\x1b\[[0-9;]*m)|` + secrets.EscapeSequence +
		`|[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
)

// Write writes the text without commands and says that all of it was written.
func (t Terminal) Write(b []byte) (int, error) {
	moves := len(ownMoves.Find(b))
	shown := append(b[:moves:moves], commands.ReplaceAll(b[moves:], []byte("$1"))...)
	if _, err := t.W.Write(shown); err != nil {
		return 0, err
	}
	return len(b), nil
}
