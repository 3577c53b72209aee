package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// jsonLines yields the lines of the file name in folder dir, compressed or
// plain, as a lineWriter wrote them. A last line that was cut by a kill is left
// out. A line that is not a T is an error value and does not end the sequence; an
// error of reading does. Without the file it yields none. The word says in
// errors what the lines are.
func jsonLines[T any](dir, name, word string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in, err := openLines(filepath.Join(dir, name))
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

// openLines opens the compressed file or, where there is none, the plain
// one. If both are there, a writer was killed between making the first and
// removing the second: the first is whole.
func openLines(path string) (io.ReadCloser, error) {
	f, err := OpenPlain(path + compressedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return OpenPlain(path)
	}
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return zstdFile{z, f}, nil
}

// zstdFile closes the decoder and the file below it.
type zstdFile struct {
	*zstd.Decoder
	f *os.File
}

func (z zstdFile) Close() error {
	z.Decoder.Close()
	return z.f.Close()
}

func decodeLines[T any](r io.Reader, word string, yield func(T, error) bool) {
	var none T
	in := bufio.NewReaderSize(r, 64<<10)

	for line := 1; ; line++ {
		raw, readErr := in.ReadBytes('\n')
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
