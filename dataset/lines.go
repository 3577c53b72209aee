package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of JSON: a prompt with images, not a whole file.
const maxLine = 256 << 20

// span64 is where a line stands in its file.
type span64 struct{ start, end int64 }

// eachLine calls use with each line that is not blank, without its end, its
// number from 1 and its place. The bytes are good until use returns.
func eachLine(ctx context.Context, r io.Reader, use func(number int, at span64, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var buffer []byte
	var offset int64
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := readLine(in, buffer[:0])
		last := errors.Is(err, io.EOF)
		if errors.Is(err, errLongLine) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err != nil && !last {
			return cause(err)
		}
		buffer = line
		at := span64{offset, offset + int64(len(line))}
		offset = at.end
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := use(number, at, line); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

var errLongLine = fmt.Errorf("longer than %d MiB", maxLine>>20)

// readLine appends the next line, with its end, to buffer.
func readLine(in *bufio.Reader, buffer []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(buffer)+len(part) > maxLine {
			return nil, errLongLine
		}
		buffer = append(buffer, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buffer, err
		}
	}
}
