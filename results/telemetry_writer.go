package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SampleWriter writes what was watched beside a pass, telemetry.jsonl or
// server-metrics.jsonl: one JSON value a line while it runs, and a compressed
// file when it has ended. A killed process loses at most one flush period. It
// is safe for concurrent use.
type SampleWriter struct {
	path string
	stop chan struct{}
	done sync.WaitGroup

	mu  sync.Mutex // guards what follows
	f   *os.File
	buf *bufio.Writer
	enc *json.Encoder
	err error // the first error of writing; all later calls return it
}

// NewSampleWriter starts the file name in the step folder dir, which it makes
// if need be. What an earlier attempt left is moved aside to
// telemetry.earlier-N.jsonl[.zst]. A flush period of 0 is one second.
func NewSampleWriter(dir, name string, flush time.Duration) (*SampleWriter, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write samples: %w", err)
	}
	path := filepath.Join(dir, name)
	for _, suffix := range []string{"", compressedSuffix} {
		if err := setAside(dir, name, suffix); err != nil {
			return nil, fmt.Errorf("write samples: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write samples: %w", err)
	}
	w := &SampleWriter{path: path, stop: make(chan struct{}), f: f, buf: bufio.NewWriterSize(f, 64<<10)}
	w.enc = json.NewEncoder(w.buf)
	w.enc.SetEscapeHTML(false)
	if flush <= 0 {
		flush = defaultFlushPeriod
	}
	w.done.Go(func() { w.flushEvery(flush) })
	return w, nil
}

// setAside renames name+suffix to the first free name of an earlier attempt.
func setAside(dir, name, suffix string) error {
	path := filepath.Join(dir, name+suffix)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	stem, ext, _ := strings.Cut(name, ".")
	for n := 1; ; n++ {
		aside := filepath.Join(dir, stem+".earlier-"+strconv.Itoa(n)+"."+ext+suffix)
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			return os.Rename(path, aside)
		}
	}
}

func (w *SampleWriter) flushEvery(period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.mu.Lock()
			if w.f != nil {
				w.keep(w.buf.Flush())
			}
			w.mu.Unlock()
		}
	}
}

// keep remembers the first error; the caller holds the mutex.
func (w *SampleWriter) keep(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("write samples: %w", err)
	}
}

// Write appends one line.
func (w *SampleWriter) Write(sample any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return errors.New("write samples: the writer is closed")
	}
	if w.err == nil {
		w.keep(w.enc.Encode(sample))
	}
	return w.err
}

// Close flushes, compresses and removes the plain file. After an error the
// plain file stays, with what could be written.
func (w *SampleWriter) Close() error {
	w.mu.Lock()
	if w.f == nil {
		defer w.mu.Unlock()
		return w.err
	}
	w.keep(w.buf.Flush())
	w.keep(w.f.Sync())
	w.keep(w.f.Close())
	w.f = nil
	err := w.err
	w.mu.Unlock()
	close(w.stop)
	w.done.Wait()
	if err != nil {
		return err
	}
	if err := compressFile(w.path); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

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
	return errors.Join(f.Close(), os.Remove(w.path))
}
