package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	compressedSuffix   = ".zst"
	defaultFlushPeriod = time.Second
)

// RecordWriter writes the records of a step to requests.jsonl while it runs,
// and leaves requests.jsonl.zst when it has ended. A killed process loses the
// records of at most one flush period. It is safe for concurrent use.
type RecordWriter struct {
	path string
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex // guards what follows
	f     *os.File
	buf   *bufio.Writer
	enc   *json.Encoder
	count int
	err   error // the first error of writing; all later calls return it
}

// NewRecordWriter starts the records of the step in folder dir, which it makes
// if need be. Records that an earlier attempt left are moved aside to
// requests.earlier-N.jsonl[.zst]. A flush period of 0 is one second.
func NewRecordWriter(dir string, flush time.Duration) (*RecordWriter, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write records: %w", err)
	}
	path := filepath.Join(dir, RequestsName)
	for _, old := range []string{path, path + compressedSuffix} {
		if err := moveAside(old); err != nil {
			return nil, fmt.Errorf("write records: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("write records: %w", err)
	}
	w := &RecordWriter{path: path, stop: make(chan struct{}), f: f, buf: bufio.NewWriterSize(f, 64<<10)}
	w.enc = json.NewEncoder(w.buf)
	w.enc.SetEscapeHTML(false)
	if flush <= 0 {
		flush = defaultFlushPeriod
	}
	w.done.Go(func() { w.flushEvery(flush) })
	return w, nil
}

// moveAside renames requests.jsonl[.zst] to the first free earlier name.
func moveAside(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // nothing there to keep
	}
	dir, name := filepath.Split(path)
	for n := 1; ; n++ {
		aside := dir + "requests.earlier-" + strconv.Itoa(n) + name[len("requests"):]
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			return os.Rename(path, aside)
		}
	}
}

func (w *RecordWriter) flushEvery(period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.mu.Lock()
			w.keep(w.buf.Flush())
			w.mu.Unlock()
		}
	}
}

// keep remembers the first error; the caller holds the mutex.
func (w *RecordWriter) keep(err error) {
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("write records: %w", err)
	}
}

// Write appends one record.
func (w *RecordWriter) Write(r Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return errors.New("write records: the writer is closed")
	}
	if w.err == nil {
		w.keep(w.enc.Encode(r))
		w.count++
	}
	return w.err
}

// Replace puts records in the place of all that were written: what was learned
// after the pass then stands in them. A process that is killed meanwhile
// leaves the records as they were.
func (w *RecordWriter) Replace(records []Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return errors.New("replace records: the writer is closed")
	}
	if w.err != nil {
		return w.err
	}
	err := writeAtomic(w.path, func(out io.Writer) error {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		for _, r := range records {
			if err := enc.Encode(r); err != nil {
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

// reopen goes on writing at the end of the file that now stands at path; the
// caller holds the mutex.
func (w *RecordWriter) reopen() error {
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("replace records: %w", err)
	}
	_ = w.f.Close() // its content is replaced
	w.f = f
	w.buf.Reset(f)
	return nil
}

// Count is the number of records written.
func (w *RecordWriter) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// Close flushes, compresses and removes the plain file. After an error the
// plain file stays, with what could be written.
func (w *RecordWriter) Close() error {
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
	return compressFile(w.path)
}

// compressFile replaces path by path.zst.
func compressFile(path string) error {
	plain, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("compress records: %w", err)
	}
	defer func() { _ = plain.Close() }()
	err = writeAtomic(path+compressedSuffix, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		_, err = io.Copy(z, plain)
		return errors.Join(err, z.Close())
	})
	if err != nil {
		return fmt.Errorf("compress records: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("compress records: %w", err)
	}
	return nil
}
