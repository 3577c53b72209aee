package status

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// fillLog fills in the end of the log of the life's newest server, and what it
// says of a start's progress.
func (l *Live) fillLog(now *results.Live, stage string) {
	now.LogTail = []string{}
	if now.Life == "" || l.Folder == nil {
		return
	}

	path := newestLog(l.Folder.PlainServerLogs(now.Life))
	if path == "" {
		return
	}
	if local, err := filepath.Rel(l.Folder.Dir(), path); err == nil {
		now.LogOf = filepath.ToSlash(local)
	}

	lines := tailOf(path, liveLog)
	if now.Phase == results.LiveLaunching {
		now.Message, now.Share = l.loading(lines, stage)
	}

	lines = lines[max(0, len(lines)-liveLines):]
	if l.Hide != nil {
		lines = secrets.Lines(lines, l.Hide)
	}
	now.LogTail = append(now.LogTail, lines...)
}

// newestLog is the log of the replica that was started last.
func newestLog(paths []string) string {
	newest, number := "", -1
	for _, path := range paths {
		var replica int
		if _, err := fmt.Sscanf(filepath.Base(path), "server-%d.log", &replica); err == nil && replica > number {
			newest, number = path, replica
		}
	}
	return newest
}

// loading says how far a start is, by the last bar in the log, else by the rung
// of the ladder.
func (*Live) loading(lines []string, stage string) (message string, share *float64) {
	for i, l := range slices.Backward(lines) {
		if p, ok := serverlog.ProgressOf(l); ok {
			if p.Done == p.Total && i < len(lines)-1 {
				break // that part is over
			}
			return fmt.Sprintf("%s %d/%d", p.What, p.Done, p.Total), new(float64(p.Done) / float64(p.Total))
		}
	}
	return "waiting for " + cmp.Or(stage, "the process"), nil
}

// tailOf are the last whole lines of a file, of at most so many bytes. A
// carriage return ends a line too: bars are drawn with it.
func tailOf(path string, most int64) []string {
	f, err := store.OpenPlain(path)
	if err != nil {
		return nil
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return nil
	}

	from := max(0, info.Size()-most)
	text := make([]byte, info.Size()-from)
	n, err := f.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}

	lines := strings.FieldsFunc(string(text[:n]), func(r rune) bool { return r == '\n' || r == '\r' || r == 0 })
	if from > 0 && len(lines) > 0 {
		lines = lines[1:] // its beginning may be cut off
	}

	return lines
}
