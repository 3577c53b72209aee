package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	maxHead       = 1 << 20 // bytes of a status line and its header, and of all answers of status 1xx before it
	lineShown     = 120     // bytes of a line quoted in an error
	statusLineMin = len("HTTP/")
)

// ErrHeadTooLong says that the header of an answer exceeds what any inference server
// sends.
var ErrHeadTooLong = fmt.Errorf("header of the answer exceeds %d bytes", maxHead)

// head is the start of an answer up to its blank line.
type head struct {
	status  int
	header  http.Header
	body    bodyDecoder
	closing bool // the connection cannot carry another request
}

// blankLineEnd returns the index behind the first blank line after a line of b,
// which ends a head or an event; 0: there is none yet. from is where to look on.
func blankLineEnd(b []byte, from int) int {
	for from < len(b) {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		switch rest := b[from:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return from + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return from + 2
		}
	}
	return 0
}

// notHTTP returns an error as soon as b cannot be the start of an answer.
func notHTTP(b []byte) error {
	n := min(len(b), statusLineMin)
	if string(b[:n]) == "HTTP/"[:n] {
		return nil
	}
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	line = bytes.TrimRight(line[:min(len(line), lineShown)], "\r")
	return fmt.Errorf("malformed HTTP response %q", line)
}

// parseHead reads a whole head, and how the body is framed, by net/http's rules for
// the answer to a POST. It never reads past b.
func parseHead(b []byte, in *bufio.Reader) (head, error) {
	in.Reset(bytes.NewReader(b))
	resp, err := http.ReadResponse(in, nil) //nolint:bodyclose // the body's bytes are read and decoded elsewhere
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("malformed HTTP response %q", b[:min(len(b), lineShown)])
		}
		return head{}, err
	}

	h := head{status: resp.StatusCode, header: resp.Header, closing: resp.Close || !resp.ProtoAtLeast(1, 1)}
	switch {
	case resp.Body == http.NoBody || resp.ContentLength == 0:
		h.body.framing = framedNone
	case len(resp.TransferEncoding) > 0:
		h.body.framing = framedChunked
	case resp.ContentLength > 0:
		h.body.framing, h.body.left = framedLength, uint64(resp.ContentLength)
	default:
		h.body.framing, h.closing = framedClose, true
	}

	return h, nil
}

// interim reports whether the head is of an answer before the real one.
func (h *head) interim() bool {
	return h.status >= 100 && h.status <= 199 && h.status != http.StatusSwitchingProtocols
}

// requestHead builds the constant part of the head of each request to one URL: the
// request line and the header fields that never change. CR and LF end a field, so
// values that hold them are refused.
func requestHead(target, host string, header http.Header, reuse bool) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\n", target, host)
	if strings.ContainsAny(target+host, " \r\n") {
		return nil, fmt.Errorf("build request: URL %q or host %q holds white space", target, host)
	}

	fields := header.Clone()
	if !reuse {
		fields.Set("Connection", "close")
	}

	for name, values := range fields {
		for _, v := range values {
			if !fieldName(name) || strings.ContainsAny(v, "\r\n\x00") {
				return nil, fmt.Errorf("build request: invalid header %q", name)
			}
		}
	}

	if err := fields.Write(&b); err != nil {
		return nil, err
	}

	return []byte(b.String()), nil
}

// fieldName reports whether s is a token in HTTP's sense.
func fieldName(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// appendRequest appends the head of one request after its constant part.
func appendRequest(b, constant []byte, id string, length int) []byte {
	b = append(b, constant...)
	if id != "" {
		b = append(append(append(b, "X-Request-Id: "...), id...), "\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(length), 10)
	return append(b, "\r\n\r\n"...)
}
