package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results"
)

// Journal appends events to journal.jsonl. An event is on disk when Append
// returns nil. It is safe for concurrent use.
type Journal struct {
	mu   sync.Mutex // guards what follows
	f    *os.File
	seq  int   // of the last event written
	size int64 // of the whole lines
}

// OpenJournal opens or makes the journal at path. What a killed writer left of
// a last line is closed by a line end and kept: readers report it as a bad line.
func OpenJournal(path string) (*Journal, error) {
	return openJournal(filepath.Dir(path), filepath.Base(path))
}

func openJournal(root, name string) (*Journal, error) {
	path := filepath.Join(root, name)
	f, err := inside.Open(root, name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{f: f}
	if err := j.recover(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// recover finds the end of the journal and the number of its last event.
func (j *Journal) recover() error {
	data, err := inside.ReadAll(j.f)
	if err != nil {
		return err
	}

	if len(data) > 0 && data[len(data)-1] != '\n' {
		if _, err := j.f.WriteAt([]byte("\n"), int64(len(data))); err != nil {
			return err
		}
		data = append(data, '\n')
	}

	for line, err := range ReadJournal(bytes.NewReader(data)) {
		if err != nil {
			return err
		}
		if line.Bad == "" {
			j.seq = max(j.seq, line.Event.Seq)
		}
	}

	j.size = int64(len(data))
	return nil
}

// Append gives e the next number, stamps it if it has no time, writes it as
// one line and waits until it is on disk. After an error the journal is as
// before and may be tried again.
func (j *Journal) Append(e results.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return errors.New("append to journal: it is closed")
	}

	e.Seq = j.seq + 1
	if e.Time.IsZero() {
		e.Time = time.Now()
	}

	e.Time = e.Time.UTC().Round(0)
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("append %s to journal: %w", e.Kind, err)
	}

	line = append(secrets.Known().JSON(line), '\n')
	_, err = j.f.WriteAt(line, j.size)
	if err == nil {
		err = j.f.Sync()
	}

	if err != nil {
		_ = j.f.Truncate(j.size) // a part of a line must not stand before the next one
		return fmt.Errorf("append %s to journal: %w", e.Kind, err)
	}

	j.seq, j.size = e.Seq, j.size+int64(len(line))
	return nil
}

// Close ends writing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return nil
	}
	err := j.f.Close()
	j.f = nil
	if err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// JournalLine is one line of a journal: an event, or what is there instead.
type JournalLine struct {
	Number int // from 1
	Event  results.Event
	Bad    string // why the line is not an event; "": it is one
	Raw    string // the text of a bad line
}

// ReadJournal yields every line of a journal. Lines that are not events (cut by
// a kill, damaged) are values like the others; the error is one of reading,
// after which nothing follows.
func ReadJournal(r io.Reader) iter.Seq2[JournalLine, error] {
	return func(yield func(JournalLine, error) bool) {
		in := inside.NewLines(r, 4<<10)
		for number := 1; ; number++ {
			raw, err := in.Next()
			if len(raw) > 0 && !yield(parseJournalLine(number, raw), nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if errors.Is(err, inside.ErrTooLong) {
				yield(JournalLine{Number: number, Bad: err.Error() + "; nothing is read after it"}, nil)
				return
			}
			if err != nil {
				yield(JournalLine{}, fmt.Errorf("read journal: %w", err))
				return
			}
		}
	}
}

// ReadEvents reads the events of a journal; lines that are not events are left out.
func ReadEvents(r io.Reader) ([]results.Event, error) {
	var events []results.Event
	for line, err := range ReadJournal(r) {
		if err != nil {
			return nil, err
		}
		if line.Bad == "" {
			events = append(events, line.Event)
		}
	}
	return events, nil
}

func parseJournalLine(number int, raw []byte) JournalLine {
	text, whole := bytes.CutSuffix(raw, []byte("\n"))
	line := JournalLine{Number: number}
	err := json.Unmarshal(text, &line.Event)
	switch {
	case err != nil && !whole:
		line.Bad = "cut short"
	case err != nil:
		line.Bad = err.Error()
	case line.Event.Seq < 1 || line.Event.Kind == "":
		line.Bad = "not an event: it has no number or no kind"
	}

	if line.Bad != "" {
		line.Event, line.Raw = results.Event{}, string(text)
	}

	return line
}

// Events reads the journal of a run, or of one of its jobs: none where there is
// no journal yet. Lines that are not events are left out.
func (f *Folder) Events() ([]results.Event, error) {
	file, err := OpenPlain(f.Journal())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close()

	return ReadEvents(file)
}
