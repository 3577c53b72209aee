package secrets

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// longLine is where a line is cut, in bytes: what writes it may never end it.
const longLine = 1 << 20

// CopyLines copies a text line by line through hide, and says whether that changed a
// line. A line that does not end is copied in pieces, cut where no secret stands.
func CopyLines(w io.Writer, r io.Reader, hide func(string) string) (changed bool, err error) {
	in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
	write := func(text string) error {
		hidden := hide(text)
		changed = changed || hidden != text
		_, err := out.WriteString(hidden)
		return err
	}

	var line strings.Builder
	for {
		piece, readErr := in.ReadSlice('\n')
		line.Write(piece)
		switch {
		case errors.Is(readErr, bufio.ErrBufferFull):
			if line.Len() < longLine {
				continue
			}
			text := line.String()
			at := Cut(text, hide)
			line.Reset()
			line.WriteString(text[at:])
			if err := write(text[:at]); err != nil {
				return changed, err
			}
			continue
		case readErr != nil && !errors.Is(readErr, io.EOF):
			return changed, readErr
		}

		if err := write(line.String()); err != nil {
			return changed, err
		}
		line.Reset()
		if readErr != nil {
			return changed, out.Flush()
		}
	}
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
