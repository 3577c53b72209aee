package store

import (
	"errors"
	"iter"
	"time"

	"github.com/benchrig/bench/results"
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

// ReadTelemetry yields what GPUs and host said beside the pass of the step in
// folder dir, in the order it was written; see ReadSamples.
func ReadTelemetry(dir string) iter.Seq2[results.TelemetrySample, error] {
	return ReadSamples[results.TelemetrySample](dir, results.TelemetryName)
}

// ReadSamples yields the lines of the file name in folder dir, compressed or
// plain, as a SampleWriter wrote them. A last line that was cut by a kill is
// left out. A line that is not a sample is an error value and does not end the
// sequence; an error of reading does. A step without the file yields none.
func ReadSamples[T any](dir, name string) iter.Seq2[T, error] {
	return jsonLines[T](dir, name, "samples")
}
