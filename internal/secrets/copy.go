package secrets

import (
	"errors"
	"io"
	"strings"
)

// block is how much of a text is looked at as a whole, in bytes, and window how much
// of it around the place where it is cut.
const (
	block  = 256 << 10
	window = 16 << 10
)

// Copy copies a text through hide, and says whether that changed it. The text is read
// in pieces, cut where no secret stands.
func Copy(w io.Writer, r io.Reader, hide func(string) string) (changed bool, err error) {
	var held strings.Builder // what has been read and not written
	buffer := make([]byte, block)
	for {
		n, readErr := io.ReadFull(r, buffer)
		held.Write(buffer[:n])
		ended := errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF)
		if readErr != nil && !ended {
			return changed, readErr
		}

		text := held.String()
		end := len(text)
		if !ended {
			from := len(text) - window
			end = from + Cut(text[from:], hide)
		}
		hidden := hide(text[:end])
		changed = changed || hidden != text[:end]
		if _, err := io.WriteString(w, hidden); err != nil || ended {
			return changed, err
		}
		held.Reset()
		held.WriteString(text[end:])
	}
}

// Lines are lines that follow each other, each as hide leaves it: a secret may begin on
// one and end on the next.
func Lines(lines []string, hide func(string) string) []string {
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(hide(strings.Join(lines, "\n")), "\n")
}

// Cut is a place about the middle of a text where no secret that hide takes out
// stands across it.
func Cut(text string, hide func(string) string) int {
	const tries = 8
	whole := hide(text)
	at := len(text) / 2
	for try := range tries {
		if at := at - try*len(text)/(2*tries); hide(text[:at])+hide(text[at:]) == whole {
			return at
		}
	}
	return at
}
