package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/benchrig/bench/results"
)

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
		in := bufio.NewReader(r)
		for number := 1; ; number++ {
			raw, err := in.ReadBytes('\n')
			if len(raw) > 0 && !yield(parseJournalLine(number, raw), nil) {
				return
			}
			if errors.Is(err, io.EOF) {
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
