package page

import (
	"bufio"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// longestLine is how much of a line of a log is kept, in bytes.
const longestLine = 300

// warnedLines is how many lines a step that is not sound has at least.
const warnedLines = 15

// logs reads the ends of the logs of servers, each once.
type logs struct {
	folder *store.Folder // nil: the run has no folder
	lines  int
	read   map[string]string
}

func newLogs(run *results.Run, lines int) *logs {
	l := &logs{lines: lines, read: map[string]string{}}
	if folder, err := store.Open(run.Dir); err == nil {
		l.folder = folder
	}
	return l
}

// of is the end of the log that says most about a step: what was kept with its
// failure, else of its first server. The name is relative to the run folder.
func (l *logs) of(r *results.Result) (name, log string) {
	if r.Failure != nil && len(r.Failure.LogTail) > 0 {
		return "", joinTail(r.Failure.LogTail, len(r.Failure.LogTail))
	}

	lines := l.lines
	if lines == 0 && r.Verdict != results.OK {
		lines = warnedLines
	}

	if lines == 0 || len(r.Servers) == 0 || r.Servers[0].Life == "" || l.folder == nil {
		return "", ""
	}

	life, replica := r.Servers[0].Life, r.Servers[0].Replica
	name = path.Join("lives", life, store.ServerLogName(replica))
	log, known := l.read[name]
	if !known {
		log = l.tail(life, replica, lines)
		l.read[name] = log
	}

	if log == "" {
		return "", ""
	}

	return text.Clean(name), log
}

// tail is the end of one log; "" where it cannot be read.
func (l *logs) tail(life string, replica, lines int) string {
	if life != path.Base(life) { // a folder of lives, and no other
		return ""
	}
	in, err := l.folder.OpenServerLog(life, replica)
	if err != nil {
		return ""
	}
	defer func() { _ = in.Close() }()
	return joinTail(lastLines(in, lines), lines)
}

// lastLines keeps the last lines of a text, each cut to longestLine.
func lastLines(in io.Reader, most int) []string {
	var last []string
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		kept := secrets.Known().Beginning(string(line), longestLine)
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a very long line
			_, err = r.ReadSlice('\n')
		}
		if kept != "" {
			if len(last) >= 2*most {
				last = append(last[:0], last[len(last)-most+1:]...)
			}
			last = append(last, kept)
		}
		if err != nil {
			return last[max(0, len(last)-most):]
		}
	}
}

func joinTail(lines []string, most int) string {
	var cleaned []string
	for _, line := range lines[max(0, len(lines)-most):] {
		text := text.Clean(line[:min(len(line), longestLine)])
		if len(line) > longestLine {
			text += " …"
		}
		cleaned = append(cleaned, text)
	}
	return strings.Join(cleaned, "\n")
}
