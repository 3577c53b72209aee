package launchers

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"benchrig/results"
)

const (
	tailLines     = 50
	evidenceLines = 16       // kept from the first fatal or traceback line on
	maxLine       = 64 << 10 // the rest of a longer line is dropped
	maxShown      = 2 << 10  // of a line, in a tail
)

// ansi matches terminal control sequences, with which engines colour logs.
var ansi = regexp.MustCompile(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))`)

// serverLog follows a server's log file as it grows, looks for lines that no
// server survives, and keeps the lines worth showing.
type serverLog struct {
	file   *os.File
	fatal  []FatalLine
	wanted string // text whose appearance is waited for; "": none

	mu         sync.Mutex // guards all below
	offset     int64
	partial    []byte // begun line
	lines      int    // seen so far
	tail       []string
	redraw     bool // the last line of tail ended in CR: the next one replaces it
	evidence   []string
	evidenceAt int // number of its first line; 0: none
	match      *fatalMatch
	found      bool // wanted has appeared
	serving    bool
}

// fatalMatch is a fatal line that was seen.
type fatalMatch struct {
	line string
	kind FatalLine
}

// openLog follows the file from its present end on.
func openLog(path string, fatal []FatalLine, wanted string) (*serverLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &serverLog{file: file, fatal: fatal, wanted: wanted, found: wanted == "", offset: info.Size()}, nil
}

func (l *serverLog) close() { _ = l.file.Close() }

// read takes in what was written since the last call and reports whether
// there was anything.
func (l *serverLog) read() (grown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	buffer := make([]byte, 32<<10)
	for {
		n, err := l.file.ReadAt(buffer, l.offset)
		l.offset += int64(n)
		grown = grown || n > 0
		l.feed(buffer[:n])
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return grown
		}
	}
}

// readLast is read for a log that will not grow any more: its last line
// counts even if it is not ended.
func (l *serverLog) readLast() {
	l.read()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.feed([]byte{'\n'})
	}
}

// feed splits text into lines, at LF and at the CR of progress bars.
func (l *serverLog) feed(text []byte) {
	for len(text) > 0 {
		end := bytes.IndexAny(text, "\r\n")
		piece := text
		if end >= 0 {
			piece = text[:end]
		}
		if room := maxLine - len(l.partial); room > 0 {
			l.partial = append(l.partial, piece[:min(room, len(piece))]...)
		}
		if end < 0 {
			return
		}
		l.take(string(l.partial), text[end] == '\r')
		l.partial = l.partial[:0]
		text = text[end+1:]
	}
}

// take looks at one line; redraw says that the next will be drawn over it.
func (l *serverLog) take(line string, redraw bool) {
	line = strings.TrimRight(ansi.ReplaceAllString(line, ""), " \t")
	if line == "" {
		l.redraw = l.redraw && redraw
		return
	}
	l.lines++
	if l.redraw && len(l.tail) > 0 {
		l.tail = l.tail[:len(l.tail)-1]
	}
	l.redraw = redraw
	shown := line
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "") + " ..."
	}
	l.tail = append(l.tail, shown)
	if len(l.tail) > tailLines {
		l.tail = slices.Delete(l.tail, 0, len(l.tail)-tailLines)
	}
	l.found = l.found || strings.Contains(line, l.wanted)
	isFatal := l.judge(line)
	l.keep(shown, isFatal || strings.Contains(line, "Traceback (most recent call last)"))
}

// judge records the first fatal line. A line that only says that the engine is
// gone gives way to one that says why: engines report the end first and print
// the traceback, whose last line is the cause, after it.
func (l *serverLog) judge(line string) bool {
	if l.serving && quotesPrompt(line) {
		return false
	}
	for _, kind := range l.fatal {
		if !kind.Pattern.MatchString(line) {
			continue
		}
		vague := l.match != nil && l.match.kind.Class == results.FailFatalLine
		if l.match == nil || vague && kind.Class != results.FailFatalLine {
			l.match = &fatalMatch{line, kind}
		}
		return true
	}
	return false
}

// quotesPrompt recognises request logs: they quote prompts, which may quote
// anything, a fatal line for instance.
func quotesPrompt(line string) bool {
	return strings.Contains(line, "Received request ") || strings.Contains(line, "prompt: ")
}

// keep collects the first lines of the first trouble; they are often far above
// the log's end.
func (l *serverLog) keep(line string, trouble bool) {
	if len(l.evidence) == 0 && trouble {
		l.evidenceAt = l.lines
	}
	if l.evidenceAt > 0 && len(l.evidence) < evidenceLines {
		l.evidence = append(l.evidence, line)
	}
}

// fatalLine is the first fatal line so far, nil if there was none.
func (l *serverLog) fatalLine() *fatalMatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.match
}

// wantedSeen reports whether the text that was waited for has appeared.
func (l *serverLog) wantedSeen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

// serve says that from now on the log may quote requests.
func (l *serverLog) serve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving = true
}

// excerpt is the log's end, with the first sign of trouble before it if that
// lies further up.
func (l *serverLog) excerpt() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	above := l.lines - len(l.tail) - l.evidenceAt + 1 // lines of evidence that the tail lacks
	if l.evidenceAt == 0 || above <= 0 {
		return slices.Clone(l.tail)
	}
	head := l.evidence[:min(above, len(l.evidence))]
	if above <= len(l.evidence) {
		return slices.Concat(head, l.tail)
	}
	return slices.Concat(head, []string{"[...]"}, l.tail)
}

// lastLine is the last line so far, "" if there is none.
func (l *serverLog) lastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == 0 {
		return ""
	}
	return l.tail[len(l.tail)-1]
}
