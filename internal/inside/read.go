package inside

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// MaxWhole and maxLine are the most that is read of a file as a whole, and of a line of
// one, in bytes: far above what bench writes. A damaged file may claim to have terabytes.
const (
	MaxWhole = 256 << 20
	maxLine  = 64 << 20
)

// ErrTooLong says that a file or a line has more than that.
var ErrTooLong = errors.New("it is far longer than any that bench writes")

// ReadAll returns what is left of an open file.
func ReadAll(f *os.File) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > MaxWhole {
		return nil, ErrTooLong
	}

	data, err := io.ReadAll(io.LimitReader(f, MaxWhole+1)) // it may grow
	if err == nil && len(data) > MaxWhole {
		return nil, ErrTooLong
	}
	return data, err
}

// Lines reads lines of any length up to maxLine.
type Lines struct {
	in   *bufio.Reader
	long []byte // a line that is longer than the buffer
}

// NewLines reads the lines of r through a buffer of a size in bytes.
func NewLines(r io.Reader, buffer int) *Lines { return &Lines{in: bufio.NewReaderSize(r, buffer)} }

// Next returns the next line with its end, good until the next call. The last line may
// have no end; it comes with io.EOF. After ErrTooLong the rest of the line follows.
func (l *Lines) Next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}

	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, line...)
		if len(l.long) > maxLine {
			return nil, ErrTooLong
		}
		line, err = l.in.ReadSlice('\n')
	}
	l.long = append(l.long, line...)
	return l.long, err
}
