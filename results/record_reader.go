package results

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

// ReadRecords yields the records of the step in folder dir, compressed or
// plain, in the order they were written. A last line that was cut by a kill is
// left out. A line that is no record is an error value and does not end the
// sequence; an error of reading does. A step without records yields none.
func ReadRecords(dir string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in, err := openRecords(filepath.Join(dir, RequestsName))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("read records: %w", err))
			return
		}
		defer func() { _ = in.Close() }()
		decodeRecords(in, yield)
	}
}

// openRecords opens the compressed file or, where there is none, the plain
// one. If both are there, a writer was killed between making the first and
// removing the second: the first is whole.
func openRecords(path string) (io.ReadCloser, error) {
	f, err := os.Open(path + compressedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Open(path)
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

func decodeRecords(r io.Reader, yield func(Record, error) bool) {
	in := bufio.NewReaderSize(r, 64<<10)
	for line := 1; ; line++ {
		raw, readErr := in.ReadBytes('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			yield(Record{}, fmt.Errorf("read records: line %d: %w", line, readErr))
			return
		}
		if len(raw) > 0 {
			var record Record
			err := json.Unmarshal(raw, &record)
			switch {
			case err == nil:
				if !yield(record, nil) {
					return
				}
			case readErr != nil: // cut by a kill
			case !yield(Record{}, fmt.Errorf("read records: line %d: %w", line, err)):
				return
			}
		}
		if readErr != nil {
			return
		}
	}
}
