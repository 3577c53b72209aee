package store

import (
	"errors"
	"time"
)

// SampleWriter writes what was watched beside a pass, telemetry.jsonl or
// server-metrics.jsonl: one JSON value a line while it runs, and a compressed
// file when it has ended. A killed process loses at most one flush period. It
// is safe for concurrent use.
type SampleWriter struct{ *lineWriter }

// NewSampleWriter starts the file name in the step folder dir, which it makes
// if need be. What an earlier attempt left is moved aside to
// telemetry.earlier-N.jsonl[.zst]. A flush period of 0 is one second.
func NewSampleWriter(dir, name string, flush time.Duration) (*SampleWriter, error) {
	lines, err := newLineWriter(dir, name, "samples", flush)
	if err != nil {
		return nil, err
	}
	return &SampleWriter{lines}, nil
}

// Write appends one line.
func (w *SampleWriter) Write(sample any) error { return w.write(sample) }

// Close flushes, compresses and removes the plain file. After an error the
// plain file stays, with what could be written.
func (w *SampleWriter) Close() error { return w.close() }

// Discard closes the file and removes it.
func (w *SampleWriter) Discard() error {
	w.mu.Lock()
	f := w.f
	w.f = nil
	w.mu.Unlock()
	if f == nil {
		return nil
	}
	close(w.stop)
	w.done.Wait()
	own, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return removeOwn(w.path, own)
}
