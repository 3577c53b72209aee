package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
)

// maxLine bounds a line of JSON: a prompt with images, not a whole file.
const maxLine = 256 << 20

// Span is where a line is in its file.
type Span struct{ Start, End int64 }

// Read reads the line again, without a mark of byte order before it.
func (s Span) Read(file io.ReaderAt) ([]byte, error) {
	line := make([]byte, s.End-s.Start)
	if _, err := file.ReadAt(line, s.Start); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return bytes.TrimPrefix(line, []byte("\uFEFF")), nil
}

// EachLine calls use with each line that is not blank, without its end, its
// number from 1 and its place. The bytes are good until use returns.
func EachLine(ctx context.Context, r io.Reader, use func(number int, at Span, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var buffer []byte
	var offset int64
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}

		line, err := ReadLine(in, buffer[:0])
		last := errors.Is(err, io.EOF)
		if errors.Is(err, errLongLine) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err != nil && !last {
			return Cause(err)
		}

		buffer = line
		at := Span{offset, offset + int64(len(line))}
		offset = at.End
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

// ReadLine appends the next line, with its end, to buffer.
func ReadLine(in *bufio.Reader, buffer []byte) ([]byte, error) {
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

// Cause drops the system call and the path from an error about a file.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// JSONError puts what encoding/json says into the words of a file's author.
func JSONError(err error) error {
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return fmt.Errorf("%q is a JSON %s, want %s", wrongType.Field, wrongType.Value, jsonName(wrongType.Type.Kind()))
	case errors.As(err, &wrongType):
		return fmt.Errorf("a JSON %s, expected an object", wrongType.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file ends in the middle: it was cut off")
	}
	return Cause(err)
}

// EndOfArray checks that the array is closed and that nothing follows it.
func EndOfArray(decoder *json.Decoder) error {
	if _, err := decoder.Token(); err != nil {
		return JSONError(err)
	}
	at := decoder.InputOffset()
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more text after the array, which ends at byte %d", at)
	}
	return nil
}

// jsonName is what a JSON author calls a Go kind.
func jsonName(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "text"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}
