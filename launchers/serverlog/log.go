package serverlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/launchers/logs"
)

const (
	tailLines = 50
	maxLine   = 64 << 10 // the rest of a longer line is dropped
	maxShown  = 2 << 10  // of a line, in a tail

	// readOnce bounds what one look at the log costs, whatever is written. A
	// log that is further ahead than maxBehind loses what lies between.
	readOnce  = 256 << 10
	maxBehind = 8 << 20
)

// ansi matches terminal control sequences, with which engines colour logs.
var ansi = regexp.MustCompile(`\x1b(\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\))`)

// Log follows a server's log file as it grows, looks for lines that no
// server survives and for milestones of its start, and keeps the lines worth
// showing. What it keeps and what a look costs is bounded.
type Log struct {
	file   *os.File
	known  logs.Lines // lines that are looked for
	wanted string     // text whose appearance is waited for; "": none

	mu       sync.Mutex // guards all below
	matchers *matchers  // of known; nil before the first line
	offset   int64
	skipped  int64  // bytes that were never looked at
	partial  []byte // begun line
	lines    int    // seen so far
	progress int    // of these, lines about more than waiting
	tail     []logLine
	above    string // the last line without its prefix
	redraw   bool   // the last line of tail ended in CR: the next one replaces it
	evidence evidence
	match    *FatalMatch
	found    bool // wanted has appeared
	serving  bool
	startup  Facts
	draft    draftLog
	watched  []*Mark
}

// logLine is a line with its number, from 1.
type logLine struct {
	number int
	text   string
}

// Open follows the file from its present end on, and looks for known lines. slotsArg
// is the engine's argument for requests at once, as its log names it; wanted is a text
// whose appearance is waited for; "": none.
func Open(path string, known logs.Lines, slotsArg, wanted string) (*Log, error) {
	root, name := inside.Split(path)
	file, err := inside.Open(root, name, os.O_CREATE|os.O_RDONLY, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &Log{
		file: file, known: known, wanted: wanted, found: wanted == "", offset: info.Size(),
		startup: Facts{slotsArg: slotsArg},
	}, nil
}

// Close closes the log file. What was read from it remains.
func (l *Log) Close() { _ = l.file.Close() }

// Read takes in what was written since the last call, up to readOnce of it,
// and reports whether there was anything.
func (l *Log) Read() (grown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.catchUp()
	buffer := make([]byte, 32<<10)
	for budget := readOnce; budget > 0; {
		n, err := l.file.ReadAt(buffer[:min(len(buffer), budget)], l.offset)
		l.offset += int64(n)
		budget -= n
		grown = grown || n > 0
		l.feed(buffer[:n])
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return grown
		}
	}

	return grown
}

// catchUp leaves out what is too far behind the log's end, and begins again
// with a log that was cut to less than what was read.
func (l *Log) catchUp() {
	info, err := l.file.Stat()
	if err != nil {
		return
	}
	if info.Size() < l.offset {
		l.offset, l.partial = 0, l.partial[:0]
	}

	behind := info.Size() - l.offset
	if behind <= maxBehind {
		return
	}

	left := behind - readOnce
	l.offset += left
	l.skipped += left
	l.partial = l.partial[:0]
	l.take(fmt.Sprintf("[%d bytes of log not looked at]", left), false)
}

// ReadLast is read for a log that will no longer grow: all of it, as far as
// it is not too far behind, and its last line even if it is not ended.
func (l *Log) ReadLast() {
	for tries := 2 * maxBehind / readOnce; tries > 0 && l.Read(); tries-- {
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.feed([]byte{'\n'})
	}
}

// feed splits text into lines, at LF and at the CR of progress bars.
func (l *Log) feed(text []byte) {
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
func (l *Log) take(line string, redraw bool) {
	if strings.IndexByte(line, '\x1b') >= 0 {
		line = ansi.ReplaceAllString(line, "")
	}

	line = strings.TrimRight(line, " \t")
	if line == "" {
		l.redraw = l.redraw && redraw
		return
	}

	l.lines++
	if l.redraw && len(l.tail) > 0 {
		l.tail = l.tail[:len(l.tail)-1]
	}

	l.redraw = redraw
	shown := logLine{l.lines, line}
	if len(line) > maxShown {
		shown.text = cutLine(line) + " ..."
	}

	l.tail = append(l.tail, shown)
	if len(l.tail) > tailLines {
		l.tail = slices.Delete(l.tail, 0, len(l.tail)-tailLines)
	}

	l.found = l.found || strings.Contains(line, l.wanted)
	for _, mark := range l.watched {
		mark.look(line)
	}

	if l.matchers == nil {
		l.matchers = newMatchers(l.known)
	}
	lower := strings.ToLower(line)
	if l.matchers.requestLog.matches(line, lower) {
		return // whatever it quotes is not the engine's own word
	}

	if !l.matchers.waiting.matches(line, lower) {
		l.progress++
	}

	l.draft.look(line)
	if !l.serving {
		l.noteMilestones(line, lower)
	}

	l.evidence.take(shown, l.judge(line, lower))
}

// noteMilestones looks for what a line says about the start.
func (l *Log) noteMilestones(line, lower string) {
	for i, m := range l.matchers.milestones {
		if m.may(lower) {
			l.startup.take(l.known.Milestones[i], line)
		}
	}
}

// judge records the fatal line that says most. Engines report their end first
// and print the traceback, whose last line is the cause, after it: a line that
// only says that the engine is gone gives way to one that says why.
func (l *Log) judge(line, lower string) bool {
	above := l.above
	words := logPrefix.ReplaceAllString(line, "")
	l.above = words
	if quotesSource(words) || retries.matches(line, lower) {
		return false
	}

	for i, m := range l.matchers.fatal {
		kind := l.known.Fatal[i]
		if kind.Starting && l.serving || !m.may(lower) ||
			!m.pattern.MatchString(line) && !m.pattern.MatchString(words) {
			continue
		}
		if l.match == nil || weight(kind) > weight(l.match.kind) {
			l.match = &FatalMatch{withField(above, line, words), kind}
		}
		return !kind.Guess && !kind.Passing
	}

	return false
}

// weight orders fatal lines by how much they say.
func weight(kind logs.FatalLine) int {
	switch {
	case kind.Passing:
		return -1
	case vague(kind.Class):
		return 0
	case kind.Guess:
		return 1
	}
	return 2
}

// fieldName is what is alone in the line above pydantic's reason.
var fieldName = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)

// withField puts the field that a reason of pydantic is about before it.
func withField(above, line, words string) string {
	if strings.Contains(words, "[type=") && strings.HasPrefix(words, " ") && fieldName.MatchString(above) {
		return above + ": " + strings.TrimSpace(words)
	}
	return line
}

// retries matches warnings about an attempt that is made again.
var retries = newLineMatcher(regexp.MustCompile(`(?i)\b(retrying|retry attempt|will retry)\b`))

// quotesSource recognises the lines of a traceback that quote the program, given
// without the log's prefix.
func quotesSource(text string) bool {
	return strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "  File ")
}

// Progress counts lines, but for those that are only about waiting.
func (l *Log) Progress() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}

// FatalLine is the first fatal line so far, nil if there was none.
func (l *Log) FatalLine() *FatalMatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.match
}

// WantedSeen reports whether the text that was waited for has appeared.
func (l *Log) WantedSeen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

// Serve says that from now on the log may quote requests, and returns what it
// said about the start.
func (l *Log) Serve() Facts {
	l.Read()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serving = true
	return l.startup
}

// Excerpt is the log's end, with the first traceback and the first fatal line
// before it where they are further up.
func (l *Log) Excerpt() []string {
	l.mu.Lock()
	defer l.mu.Unlock()

	var lines []string
	next := 0 // number of the line that would follow without a gap
	add := func(line logLine) {
		if next > 0 && line.number > next {
			lines = append(lines, "[...]")
		}
		lines = append(lines, line.text)
		next = line.number + 1
	}

	for _, line := range l.evidence.lines() {
		if len(l.tail) > 0 && line.number < l.tail[0].number && line.number >= next {
			add(line)
		}
	}

	for i, line := range l.tail {
		if i > 0 {
			next = line.number // lines that were drawn over leave no gap
		}
		add(line)
	}

	return lines
}

// Cause is the last line of the first traceback, "" if there is none.
func (l *Log) Cause() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.evidence.cause
}

// LastLine is the last line so far, "" if there is none. What srun says of the end
// of a program on another node counts only if the program has said nothing.
func (l *Log) LastLine() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == 0 {
		return ""
	}
	for _, line := range slices.Backward(l.tail) {
		if !strings.HasPrefix(line.text, "srun: ") {
			return line.text
		}
	}
	return l.tail[len(l.tail)-1].text
}

// UsageError is the last line of the tail that names a wrong command line, ""
// if there is none.
func (l *Log) UsageError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range slices.Backward(l.tail) {
		if usageError.MatchString(line.text) {
			return line.text
		}
	}
	return ""
}

// Mark waits for one of two lines: a deed done, or refused.
type Mark struct {
	done, refused *regexp.Regexp
	Saw           chan string // gets the first such line
	Ok            bool        // it was the one of done; valid once saw was read
}

// Mark begins to look for a deed's line; unmark ends it.
func (l *Log) Mark(done, refused *regexp.Regexp) (mark *Mark, unmark func()) {
	m := &Mark{done: done, refused: refused, Saw: make(chan string, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = append(l.watched, m)
	return m, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.watched = slices.DeleteFunc(l.watched, func(other *Mark) bool { return other == m })
	}
}

func (m *Mark) look(line string) {
	done := m.done.MatchString(line)
	if !done && (m.refused == nil || !m.refused.MatchString(line)) || len(m.Saw) > 0 {
		return
	}
	m.Ok = done
	m.Saw <- line
}

// Drafts are the counts of drafts in the log, up to now.
func (l *Log) Drafts() map[string]float64 {
	l.Read()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draft.counters()
}

// DraftLines are the last lines about drafts, and k.
func (l *Log) DraftLines() (lines []string, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range []string{l.draft.line, l.draft.stageLine} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines, l.draft.tokens
}
