package agent

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxFrame bounds a frame in bytes: what is longer is not a frame but something
// else that was printed into the stream.
const maxFrame = 64 << 20

// frames are the messages of a stream: four bytes of length, the highest first, and a
// JSON value, in which hide leaves out secrets. Sending is safe for concurrent use,
// receiving is not.
type frames struct {
	in      *bufio.Reader
	hearing *hearing // below in
	hide    func(json []byte) []byte

	mu  sync.Mutex // guards out
	out io.Writer
}

func newFrames(stream io.ReadWriter) *frames {
	h := &hearing{in: stream}
	hide := func(json []byte) []byte { return json }
	return &frames{in: bufio.NewReaderSize(h, 64<<10), hearing: h, hide: hide, out: stream}
}

func (f *frames) send(m message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write(m)
}

// write sends a message; the caller holds the mutex.
func (f *frames) write(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	text = f.hide(text)
	if len(text) > maxFrame {
		return fmt.Errorf("message %s has %d bytes: want at most %d", m.Kind, len(text), maxFrame)
	}
	_, err = f.out.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text))),
		text...))
	return err
}

// receive waits for the next message. At the end of the stream it returns
// io.EOF.
func (f *frames) receive() (message, error) {
	var m message
	head, err := f.in.Peek(4)
	if err != nil {
		if len(head) > 0 && err == io.EOF {
			return m, fmt.Errorf("the stream ends with %q", head)
		}
		return m, err
	}

	size := binary.BigEndian.Uint32(head)
	if size > maxFrame {
		head, _ = f.in.Peek(min(f.in.Buffered(), 80))
		return m, fmt.Errorf("it sent %q, which is not a message", head)
	}

	_, _ = f.in.Discard(4) // it was peeked at
	text := make([]byte, size)
	if _, err := io.ReadFull(f.in, text); err != nil {
		return m, fmt.Errorf("the stream ends within a message: %w", err)
	}

	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a number in a body stays as it was written
	if err := decoder.Decode(&m); err != nil {
		return m, fmt.Errorf("read message: %w", err)
	}

	return m, nil
}
