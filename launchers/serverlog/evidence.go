package serverlog

import (
	"regexp"
	"slices"
	"strings"
)

const (
	traceHead  = 6  // lines kept of the beginning of the first traceback
	traceTail  = 24 // and of its end, where the cause is
	fatalLines = 8  // kept from the first fatal line on
)

// evidence keeps the lines that say why a server failed. They are often far
// above the log's end: the root cause is usually the first traceback.
type evidence struct {
	head, end []logLine // of the first traceback
	cause     string    // its last line, with the reason below it
	summary   string    // the last line, while its reason is still to come
	open      bool      // it has not ended
	fatal     []logLine // the first fatal line and what follows
}

// logPrefix is what engines put before each line of a message: the process,
// and level, time and place in the code.
var logPrefix = regexp.MustCompile(`^(\[\d{4}-[^\]]*\] |\([A-Za-z][^()]*\) ?|(ERROR|CRITICAL|WARNING|INFO|DEBUG) [\d-]+ [\d:.,]+ (\[[^\]]*\]|\S+\]) ?)*`)

// validationError is the last line of a traceback whose reason is below it.
var validationError = regexp.MustCompile(`\d+ validation errors? for \w+$`)

const traceStart = "Traceback (most recent call last)"

func (e *evidence) take(line logLine, isFatal bool) {
	if isFatal && len(e.fatal) == 0 || len(e.fatal) > 0 && len(e.fatal) < fatalLines {
		e.fatal = append(e.fatal, line)
	}
	switch {
	case e.open:
		e.follow(line)
	case len(e.head) == 0 && strings.Contains(line.text, traceStart):
		e.head, e.open = append(e.head, line), true
	}
}

// follow takes a line of the first traceback. The first line that is not
// indented, but for its prefix, ends it.
func (e *evidence) follow(line logLine) {
	switch {
	case len(e.head) < traceHead:
		e.head = append(e.head, line)
	case len(e.end) < traceTail:
		e.end = append(e.end, line)
	default:
		e.end = append(slices.Delete(e.end, 0, 1), line)
	}

	text := logPrefix.ReplaceAllString(line.text, "")
	if e.summary != "" { // its reason is the line below it
		e.open, e.cause = false, e.summary+": "+strings.TrimSpace(text)
		return
	}

	inside := text == "" || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") ||
		strings.HasPrefix(text, "|") || strings.HasPrefix(text, "^")
	switch {
	case inside:
	case validationError.MatchString(text):
		e.summary = text
	default:
		e.open, e.cause = false, text
	}
}

// lines are all that was kept, in their order.
func (e *evidence) lines() []logLine {
	all := slices.Concat(e.head, e.end, e.fatal)
	slices.SortStableFunc(all, func(a, b logLine) int { return a.number - b.number })
	return all
}
