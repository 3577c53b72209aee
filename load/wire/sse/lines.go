package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// nextLine returns the next line that is not blank, without its end, valid
// until the next call. Lines end with LF. A last line without an end counts if
// it is whole JSON: servers leave the end out at times; otherwise the stream
// was cut.
func (e *Reader) nextLine() (data []byte, at time.Duration, err error) {
	for {
		b := e.buf[e.r:e.w]
		if end := bytes.IndexByte(b[e.seen:], '\n'); end >= 0 {
			line := bytes.TrimSpace(b[:e.seen+end])
			e.r, e.seen = e.r+e.seen+end+1, 0
			if len(line) > 0 {
				return line, e.DataAt, nil
			}
			continue
		}

		e.seen = len(b)
		err := e.Fill()
		if err == nil {
			continue
		}

		if rest := bytes.TrimSpace(e.buf[e.r:e.w]); errors.Is(err, io.EOF) && json.Valid(rest) {
			e.r, e.seen = e.w, 0
			return rest, e.DataAt, nil
		}

		return nil, e.At, err
	}
}
