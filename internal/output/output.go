// Package output takes what another program prints: line by line as it comes, or
// the beginning of it.
//
// Bytes go in; lines and text of bounded length come out. It never fails, so that
// the program is not held up, and it does not know what the words mean.
package output

import (
	"bytes"
	"strings"
	"sync"
)

// Lines calls Do with each line, without its end and blanks around it. Lines
// without text are left out, and so is what has no line end yet. It is safe for
// concurrent use: lines of several writers come one after another.
type Lines struct {
	Most int // bytes of a line; the rest of it is dropped
	Do   func(line string)

	mu sync.Mutex
}

// Writer returns a writer of its own for one stream of output.
func (l *Lines) Writer() *LineWriter { return &LineWriter{lines: l} }

// LineWriter cuts one stream into lines.
type LineWriter struct {
	lines *Lines
	part  []byte // of a line that has not ended
}

func (w *LineWriter) Write(p []byte) (int, error) {
	w.lines.mu.Lock()
	defer w.lines.mu.Unlock()

	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		w.part = append(w.part, line[:min(len(line), w.lines.Most-len(w.part))]...)
		if ended {
			if text := strings.TrimSpace(string(w.part)); text != "" {
				w.lines.Do(text)
			}
			w.part = w.part[:0]
		}
		p = rest
	}

	return n, nil
}

// Head keeps the beginning of what is written to it, at most maxHead bytes.
type Head struct{ text bytes.Buffer }

// maxHead is how much a Head keeps, in bytes.
const maxHead = 1 << 20

func (h *Head) Write(p []byte) (int, error) {
	if room := maxHead - h.text.Len(); room > 0 {
		h.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String is what was kept, without blanks around it.
func (h *Head) String() string { return strings.TrimSpace(h.text.String()) }
