package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
)

// jsonLines yields the lines of the file name in folder dir, compressed or
// plain, as a lineWriter wrote them. A last line that was cut by a kill is left
// out. A line that is not a T is an error value and does not end the sequence; an
// error of reading does. Without the file it yields none. The word says in
// errors what the lines are.
func jsonLines[T any](dir, name, word string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in, err := OpenLines(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			var none T
			yield(none, fmt.Errorf("read %s: %w", word, err))
			return
		}
		defer func() { _ = in.Close() }()
		decodeLines(in, word, yield)
	}
}

// ErrTooMany says that a file has more lines than are read of it.
var ErrTooMany = errors.New("it has far more lines than such a step leaves; the rest was not read")

// AtMost yields the first values of a sequence, and ErrTooMany in place of the others.
func AtMost[T any](lines iter.Seq2[T, error], most int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for line, err := range lines {
			if n++; n > most {
				var none T
				yield(none, ErrTooMany)
				return
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// OpenLines opens the compressed file or, where there is none, the plain
// one. If both are there, a writer was killed between making the first and
// removing the second: the first is whole.
func OpenLines(path string) (io.ReadCloser, error) {
	f, err := OpenPlain(path + compressedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return OpenPlain(path)
	}
	if err != nil {
		return nil, err
	}
	return Decompress(f)
}

// Decompress reads what a compressed file holds, and closes the file with the reader,
// or at once where it cannot be read. A file that unpacks to far more than bench
// packs into one of its size ends with an error.
func Decompress(f *os.File) (io.ReadCloser, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &zstdFile{z, f, 4*inside.MaxWhole + maxRatio*info.Size()}, nil
}

// maxRatio is more than records and samples shrink by.
const maxRatio = 200

var errBomb = errors.New("it unpacks to far more than its size, which no file of a run does")

// zstdFile closes the decoder and the file below it.
type zstdFile struct {
	z    *zstd.Decoder // not embedded: its WriteTo would pass Read by
	f    *os.File
	room int64 // bytes that may still follow
}

func (z *zstdFile) Read(b []byte) (int, error) {
	n, err := z.z.Read(b)
	if z.room -= int64(n); z.room < 0 {
		return 0, errBomb
	}
	return n, err
}

func (z *zstdFile) Close() error {
	z.z.Close()
	return z.f.Close()
}

func decodeLines[T any](r io.Reader, word string, yield func(T, error) bool) {
	var none T
	in := inside.NewLines(r, 64<<10)

	for line := 1; ; line++ {
		raw, readErr := in.Next()
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			yield(none, fmt.Errorf("read %s: line %d: %w", word, line, readErr))
			return
		}
		if len(raw) > 0 {
			var value T
			err := json.Unmarshal(raw, &value)
			switch {
			case err == nil:
				if !yield(value, nil) {
					return
				}
			case readErr != nil: // cut by a kill
			case !yield(none, fmt.Errorf("read %s: line %d: %w", word, line, err)):
				return
			}
		}
		if readErr != nil {
			return
		}
	}
}

const (
	compressedSuffix   = ".zst"
	defaultFlushPeriod = time.Second
)

// lineWriter writes a file of a step folder while the step runs, one JSON value
// a line, and leaves a compressed file when it has ended. A killed process
// loses the lines of at most one flush period. It is safe for concurrent use.
type lineWriter struct {
	word string // what the lines are, for errors
	path string // of the plain file
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex // guards what follows
	f     *os.File   // nil: closed
	buf   *bufio.Writer
	enc   *json.Encoder // into line
	line  bytes.Buffer
	count int
	err   error // the first error of writing; all later calls return it
}

// newLineWriter starts the file name in folder dir, which it makes if need be.
// What an earlier attempt left is moved aside. A flush period of 0 is one
// second.
func newLineWriter(dir, name, word string, flush time.Duration) (*lineWriter, error) {
	w := &lineWriter{word: word, path: filepath.Join(dir, name), stop: make(chan struct{})}
	root, folder := inside.Split(w.path)
	if err := errors.Join(os.MkdirAll(root, 0o777), inside.MkdirAll(root, filepath.Dir(folder))); err != nil {
		return nil, w.failed(err)
	}

	for _, suffix := range []string{"", compressedSuffix} {
		if err := setAside(dir, name, suffix); err != nil {
			return nil, w.failed(err)
		}
	}

	f, err := openStep(w.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, w.failed(err)
	}

	w.f, w.buf = f, bufio.NewWriterSize(f, 64<<10)
	w.enc = json.NewEncoder(&w.line)
	w.enc.SetEscapeHTML(false)
	if flush <= 0 {
		flush = defaultFlushPeriod
	}

	w.done.Go(func() { w.flushEvery(flush) })
	return w, nil
}

// setAside renames name+suffix to the first free name of an earlier attempt:
// NAME.earlier-N.EXT+suffix.
func setAside(dir, name, suffix string) error {
	root, path := inside.Split(filepath.Join(dir, name+suffix))
	if !inside.Exists(root, path) {
		return nil
	}
	stem, ext, _ := strings.Cut(name, ".")
	for n := 1; ; n++ {
		aside := filepath.Join(filepath.Dir(path), stem+".earlier-"+strconv.Itoa(n)+"."+ext+suffix)
		if !inside.Exists(root, aside) {
			return inside.Rename(root, path, aside)
		}
	}
}

// openStep opens a file in the folder of a step or a server start.
func openStep(path string, flag int) (*os.File, error) {
	root, name := inside.Split(path)
	return inside.Open(root, name, flag, 0o666)
}

// writeStep writes such a file, whole or not at all.
func writeStep(path string, write func(io.Writer) error) error {
	root, name := inside.Split(path)
	return writeAtomic(root, name, write)
}

// removeStep removes such a file.
func removeStep(path string) error {
	root, name := inside.Split(path)
	return inside.Remove(root, name)
}

func (w *lineWriter) failed(err error) error { return fmt.Errorf("write %s: %w", w.word, err) }

func (w *lineWriter) flushEvery(period time.Duration) {
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
func (w *lineWriter) keep(err error) {
	if w.err == nil && err != nil {
		w.err = w.failed(err)
	}
}

// write appends one line.
func (w *lineWriter) write(line any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return w.failed(errWriterClosed)
	}
	if w.err == nil {
		w.line.Reset()
		w.keep(w.enc.Encode(line))
		_, err := w.buf.Write(secrets.Known().JSON(w.line.Bytes()))
		w.keep(err)
		w.count++
	}
	return w.err
}

var errWriterClosed = errors.New("the writer is closed")

// close flushes, compresses and removes the plain file. After an error the
// plain file stays, with what could be written.
func (w *lineWriter) close() error {
	w.mu.Lock()
	if w.f == nil {
		defer w.mu.Unlock()
		return w.err
	}
	w.keep(w.buf.Flush())
	w.keep(w.f.Sync())
	own, err := w.f.Stat()
	w.keep(err)
	w.keep(w.f.Close())
	w.f = nil
	err = w.err
	w.mu.Unlock()
	close(w.stop)
	w.done.Wait()
	if err != nil {
		return err
	}
	if err := compressFile(w.path, own); err != nil {
		return fmt.Errorf("compress %s: %w", w.word, err)
	}

	return nil
}

// compressFile replaces path by path.zst, if it is still the file own.
func compressFile(path string, own os.FileInfo) error {
	plain, err := OpenPlain(path)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()

	found, err := plain.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(own, found) {
		return fmt.Errorf("%s: %w", path, errReplaced)
	}

	err = writeStep(path+compressedSuffix, func(w io.Writer) error {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		_, err = io.Copy(z, plain)
		return errors.Join(err, z.Close())
	})
	if err != nil {
		return err
	}
	return removeOwn(path, own)
}

// removeOwn removes the file own at path; another that is there by now is
// left, and is an error.
func removeOwn(path string, own os.FileInfo) error {
	found, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(own, found) {
		return fmt.Errorf("remove %s: %w", path, errReplaced)
	}
	return removeStep(path)
}
