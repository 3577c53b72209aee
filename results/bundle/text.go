package bundle

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results/store"
)

// openText opens a file of a run folder for reading what it holds before
// compression.
func openText(path string) (io.ReadCloser, error) {
	f, err := store.OpenPlain(path)
	if err != nil || !strings.HasSuffix(path, compressed) {
		return f, err
	}
	in, err := store.Decompress(f)
	if err != nil {
		return nil, err
	}
	return plain{in}, nil
}

type plain struct{ io.ReadCloser }

// Read ends where a stream was cut: what was written until then counts.
func (p plain) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// closing closes what was read, whose own error counts more.
func closing(c io.Closer, err error) error {
	if closeErr := c.Close(); err == nil {
		return closeErr
	}
	return err
}

// eachLine gives every line with its end. The line is valid until the next.
func eachLine(in io.Reader, each func([]byte) error) error {
	lines := inside.NewLines(in, 256<<10)
	for {
		line, err := lines.Next()
		if len(line) > 0 {
			if err := each(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// shortener keeps the beginning and the end of a long text.
type shortener struct {
	out        io.Writer
	head, tail int64
	kept       int64
	ring       []byte // the last bytes
	lost       int64
}

func (s *shortener) Write(data []byte) (int, error) {
	n := len(data)
	if room := s.head - s.kept; room > 0 {
		part := data[:min(int64(len(data)), room)]
		if _, err := s.out.Write(part); err != nil {
			return 0, err
		}
		s.kept += int64(len(part))
		data = data[len(part):]
	}

	s.ring = append(s.ring, data...)
	const slack = 2
	if int64(len(s.ring)) > slack*max(s.tail, 1) {
		s.drop()
	}

	return n, nil
}

func (s *shortener) drop() {
	if over := int64(len(s.ring)) - s.tail; over > 0 {
		s.lost += over
		s.ring = append(s.ring[:0], s.ring[over:]...)
	}
}

func (s *shortener) finish() error {
	s.drop()
	if s.lost > 0 {
		if _, err := fmt.Fprintf(s.out, "\n[... %d bytes left out of the bundle ...]\n", s.lost); err != nil {
			return err
		}
	}
	_, err := s.out.Write(s.ring)
	return err
}
