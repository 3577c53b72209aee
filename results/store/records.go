package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results"
)

// RecordWriter writes the records of a step to requests.jsonl while it runs,
// and leaves requests.jsonl.zst when it has ended. A killed process loses the
// records of at most one flush period. It is safe for concurrent use.
type RecordWriter struct{ *lineWriter }

// NewRecordWriter starts the records of the step in folder dir, which it makes
// if need be. Records that an earlier attempt left are moved aside to
// requests.earlier-N.jsonl[.zst]. A flush period of 0 is one second.
func NewRecordWriter(dir string, flush time.Duration) (*RecordWriter, error) {
	lines, err := newLineWriter(dir, results.RequestsName, "records", flush)
	if err != nil {
		return nil, err
	}
	return &RecordWriter{lines}, nil
}

// Write appends one record.
func (w *RecordWriter) Write(r results.Record) error { return w.write(r) }

// Count is the number of records written.
func (w *RecordWriter) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// Close flushes, compresses and removes the plain file. After an error the
// plain file stays, with what could be written.
func (w *RecordWriter) Close() error { return w.close() }

// Replace puts records in the place of all that were written: what was learned
// after the pass then is in them. A process that is killed meanwhile
// leaves the records as they were.
func (w *RecordWriter) Replace(records []results.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return fmt.Errorf("replace records: %w", errWriterClosed)
	}
	if w.err != nil {
		return w.err
	}
	err := writeStep(w.path, func(out io.Writer) error {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		for _, r := range records {
			line.Reset()
			if err := enc.Encode(r); err != nil {
				return err
			}
			if _, err := out.Write(secrets.Known().JSON(line.Bytes())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("replace records: %w", err)
	}

	return w.reopen()
}

// reopen continues writing at the end of the file that now is at path; the
// caller holds the mutex.
func (w *RecordWriter) reopen() error {
	f, err := openStep(w.path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("replace records: %w", err)
	}
	_ = w.f.Close() // its content is replaced
	w.f = f
	w.buf.Reset(f)
	return nil
}

// ReadRecords yields the records of the load of the step in folder dir,
// compressed or plain, in the order they were written. A last line that was cut
// by a kill is left out. A line that is not a record is an error value and does
// not end the sequence; an error of reading does. A step without records yields
// none.
func ReadRecords(dir string) iter.Seq2[results.Record, error] {
	return func(yield func(results.Record, error) bool) {
		for record, err := range ReadEveryRecord(dir) {
			if !record.Probe && !yield(record, err) {
				return
			}
		}
	}
}

// ReadEveryRecord is ReadRecords with the records of probes.
func ReadEveryRecord(dir string) iter.Seq2[results.Record, error] {
	return jsonLines[results.Record](dir, results.RequestsName, "records")
}
