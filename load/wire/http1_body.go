package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"
)

// Limits of a chunked body's overhead, those of net/http.
const (
	maxChunkLine = 4096     // bytes of a chunk's size line, and of the trailer
	maxExcess    = 16 << 10 // bytes of framing beyond what the data justifies
)

var (
	errChunkLineTooLong = errors.New("chunked body: line too long")
	errChunkBareLF      = errors.New("chunked body: line ends with bare LF")
	errChunkBadCR       = errors.New("chunked body: CR within a line")
	errChunkSize        = errors.New("chunked body: malformed chunk size")
	errChunkEnd         = errors.New("chunked body: no line end after a chunk")
	errChunkExcess      = errors.New("chunked body: more framing than data")
	errTrailer          = errors.New("chunked body: malformed trailer")
)

// framing is what marks the end of a body.
type framing int

const (
	framedNone    framing = iota // no body
	framedLength                 // Content-Length
	framedChunked                // Transfer-Encoding: chunked
	framedClose                  // the connection's end
)

// chunkPart is what a chunked body's next byte belongs to.
type chunkPart int

const (
	partSize chunkPart = iota // a chunk's size line
	partData
	partDataEnd // CR LF after a chunk
	partTrailer
	partOver
)

// bodyDecoder takes the framing out of a body, however its bytes are split over
// reads. It works in place: the data of chunks moves over the framing before it, so
// that no read is copied to another buffer. It accepts what net/http accepts, and
// refuses what net/http refuses.
type bodyDecoder struct {
	framing framing
	left    uint64 // bytes to come of the body, or of the chunk
	part    chunkPart
	line    []byte // start of a line whose end has not come
	excess  int64  // bytes of framing beyond what the data justifies
}

// over reports whether the body is complete.
func (d *bodyDecoder) over() bool {
	switch d.framing {
	case framedNone:
		return true
	case framedLength:
		return d.left == 0
	case framedChunked:
		return d.part == partOver
	default:
		return false
	}
}

// cut returns the error of a body whose connection ends now: io.EOF if that ends it.
func (d *bodyDecoder) cut() error {
	if d.framing == framedClose || d.over() {
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

// decode turns the n raw bytes p into body bytes p[:n] and returns how many raw bytes
// were used: fewer only if the body is over or in error.
func (d *bodyDecoder) decode(p []byte) (n, used int, err error) {
	switch d.framing {
	case framedClose:
		return len(p), len(p), nil
	case framedLength:
		n = int(min(uint64(len(p)), d.left))
		d.left -= uint64(n)
		return n, n, nil
	case framedChunked:
		return d.chunked(p)
	default:
		return 0, 0, nil
	}
}

func (d *bodyDecoder) chunked(p []byte) (n, used int, err error) {
	for used < len(p) && d.part != partOver {
		rest := p[used:]
		var size int
		switch d.part {
		case partData:
			size = int(min(uint64(len(rest)), d.left))
			n += copy(p[n:], rest[:size])
			if d.left -= uint64(size); d.left == 0 {
				d.part = partDataEnd
			}
		case partDataEnd:
			size, err = d.dataEnd(rest)
		case partSize:
			size, err = d.sizeLine(rest)
		default:
			size, err = d.trailer(rest)
		}
		if used += size; err != nil {
			return n, used, err
		}
	}

	return n, used, nil
}

// dataEnd takes the CR LF after a chunk's data.
func (d *bodyDecoder) dataEnd(p []byte) (used int, err error) {
	const end = "\r\n"
	for used < len(p) && len(d.line) < len(end) {
		d.line = append(d.line, p[used])
		used++
	}
	if len(d.line) < len(end) {
		return used, nil
	}
	if string(d.line) != end {
		return used, errChunkEnd
	}
	d.line, d.part = d.line[:0], partSize
	return used, nil
}

// sizeLine takes a chunk's size line, or as much of it as is there.
func (d *bodyDecoder) sizeLine(p []byte) (used int, err error) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		d.line = append(d.line, p...)
		if len(d.line) > maxChunkLine {
			return len(p), errChunkLineTooLong
		}
		return len(p), nil
	}

	line := p[:i+1]
	if len(d.line) > 0 {
		d.line = append(d.line, line...)
		line = d.line
	}

	d.line = d.line[:0]
	return i + 1, d.beginChunk(line)
}

func (d *bodyDecoder) beginChunk(line []byte) error {
	switch cr := bytes.IndexByte(line, '\r'); {
	case len(line) > maxChunkLine:
		return errChunkLineTooLong
	case cr < 0:
		return errChunkBareLF
	case cr != len(line)-2:
		return errChunkBadCR
	}

	line = line[:len(line)-2]
	overhead := int64(len(line)) + 2
	size, ok := chunkSize(line)
	if !ok {
		return errChunkSize
	}

	d.excess = max(d.excess+overhead-16-2*int64(min(size, 1<<40)), 0)
	if d.excess > maxExcess {
		return errChunkExcess
	}

	d.left, d.part = size, partData
	if size == 0 {
		d.part = partTrailer
	}

	return nil
}

// chunkSize reads a hexadecimal number; extensions after ";" are ignored, as
// is white space at the line's end.
func chunkSize(line []byte) (size uint64, ok bool) {
	line = bytes.TrimRight(line, " \t")
	digits, _, _ := bytes.Cut(line, []byte{';'})
	if len(digits) == 0 || len(digits) > 16 {
		return 0, false
	}

	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		size = size<<4 | uint64(c)
	}

	return size, true
}

// trailer takes what follows the last chunk: a blank line, or fields that end with
// one, which are checked and dropped.
func (d *bodyDecoder) trailer(p []byte) (used int, err error) {
	for used < len(p) {
		d.line = append(d.line, p[used])
		used++
		switch {
		case string(d.line) == "\r\n":
			d.line, d.part = d.line[:0], partOver
			return used, nil
		case bytes.HasSuffix(d.line, []byte("\r\n\r\n")):
			_, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(d.line))).ReadMIMEHeader()
			d.line, d.part = d.line[:0], partOver
			if err != nil {
				return used, errTrailer
			}
			return used, nil
		case len(d.line) >= maxChunkLine:
			return used, errTrailer
		}
	}

	return used, nil
}
