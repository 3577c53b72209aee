// Package sse cuts the body of an answer into server-sent events or JSON lines.
//
// What goes in: bytes as they arrive, each read with its time. What comes out: the
// data of one event after the other, with the time of the read that completed it.
// Buffers are bounded, and all readers of a pass share a budget. It opens no
// connection and knows no API.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	firstBuffer = 4 << 10  // bytes; what one event of one token needs is far below
	largestRead = 64 << 10 // bytes asked of the transport at once
	maxEvent    = 4 << 20  // bytes of a line, and of an event's data; of a whole answer without stream too

	// MaxInvalidLine is how many bytes are kept of the first line that is not an SSE field.
	MaxInvalidLine = 256
)

// ErrWouldBlock is what a StampedReader returns while nothing is there to be read.
var ErrWouldBlock = errors.New("nothing to read yet")

// ErrEventTooLong says that a line or the data of an event exceeds the reader's limit.
var ErrEventTooLong = errors.New("event too long")

// StampedReader reads the body of an answer and says when its bytes arrived,
// counted from the start of the pass. The stamp is taken before anything looks at
// the bytes.
type StampedReader interface {
	ReadStamped(p []byte) (n int, at time.Duration, err error)
}

// Reader cuts a byte stream into server-sent events by the rules of the
// HTML standard, however the stream is split over reads: lines end with LF,
// CRLF or CR; data lines of one event are joined by LF; comments and fields
// other than data are signs of life only; an event counts once its blank line
// is there, and one that the end of the stream cuts off is dropped.
//
// With Lines set it reads JSON lines instead: see nextLine.
type Reader struct {
	src       StampedReader
	Watch     ReadWatcher   // sees every read; nil: nothing does
	Scratch   *Scratch      // nil: none
	Lines     bool          // the stream is JSON lines
	limit     int           // bytes; 0: maxEvent
	Budget    *Budget       // of all readers of a pass
	taken     int           // bytes of the budget
	buf       []byte        // own, or that of lent
	own       []byte        // kept while buf is lent
	onScratch bool          // buf is lent
	r, w      int           // buf[r:w] is read but not yet cut into lines
	seen      int           // bytes from r on that hold no line end
	At        time.Duration // stamp of the latest read
	DataAt    time.Duration // of the latest read that brought bytes
	err       error         // from the latest read, to be returned once the bytes are used up
	bomDone   bool
	skipLF    bool // the last line ended with CR: an LF right after belongs to it

	data       []byte // within buf while the event has one data line, else within joined
	joined     []byte
	isJoined   bool
	hasData    bool
	dispatched bool // data was returned; the next call starts anew

	ErrorEvent   bool   // the event is of type "error"
	InvalidLine  []byte // start of the first line that is not an SSE field
	InvalidLines int
	Total        int64 // bytes read
}

// ReadWatcher learns when bytes were read.
type ReadWatcher interface{ Alive(at time.Duration) }

// Scratch is memory that a reader needs only as long as it does not wait: all streams
// of a loop share one, which stays in the processor's cache.
type Scratch struct {
	buf   [largestRead]byte
	Value any // of the user: what it needs for no longer than the buffer
}

// Reset prepares the reader for another stream; buffers are kept.
func (e *Reader) Reset(src StampedReader) {
	*e = Reader{
		src: src, Lines: e.Lines, limit: e.limit, buf: e.own[:cap(e.own)], own: e.own, joined: e.joined,
		InvalidLine: e.InvalidLine[:0],
	}
	if e.limit == 0 {
		e.limit = maxEvent
	}
}

// Release gives back what the reader took out of its budget.
func (e *Reader) Release() {
	e.Budget.Give(e.taken)
	e.taken = 0
}

// Next returns the data of the next event, valid until the next call, and the
// arrival time of the read that completed it. The error is io.EOF at the end
// of the stream, or what the source said.
func (e *Reader) Next() (data []byte, at time.Duration, err error) {
	if e.Lines {
		return e.nextLine()
	}
	if e.dispatched {
		e.hasData, e.dispatched, e.ErrorEvent = false, false, false
	}

	for {
		line, ok := e.line()
		switch {
		case !ok:
			if err := e.Fill(); err != nil {
				return nil, e.At, err
			}
		case len(line) > 0:
			if err := e.field(line); err != nil {
				return nil, e.At, err
			}
		case e.hasData:
			e.dispatched = true
			return e.data, e.At, nil
		default:
			e.ErrorEvent = false // a blank line without data ends an event of no interest
		}
	}
}

// line returns the next whole line without its end, or false if more bytes
// are needed.
func (e *Reader) line() ([]byte, bool) {
	b := e.buf[e.r:e.w]
	if e.skipLF && len(b) > 0 {
		if b[0] == '\n' {
			e.r, b = e.r+1, b[1:]
		}
		e.skipLF = false
	}

	if !e.bomDone {
		const bom = "\xef\xbb\xbf"
		if len(b) < len(bom) && bom[:len(b)] == string(b) {
			return nil, false
		}
		e.bomDone = true
		if string(b[:min(len(b), len(bom))]) == bom {
			e.r, b = e.r+len(bom), b[len(bom):]
		}
	}

	end := lineEnd(b[e.seen:])
	if end < 0 {
		e.seen = len(b)
		return nil, false
	}

	end += e.seen
	e.skipLF = b[end] == '\r'
	e.r, e.seen = e.r+end+1, 0
	return b[:end], true
}

// lineEnd returns the index of the first CR or LF in b, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// field takes in one line that is not blank.
func (e *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}

	switch string(name) {
	case "data":
		return e.addData(value)
	case "event":
		e.ErrorEvent = string(value) == "error"
	case "", "id", "retry":
	default:
		if e.InvalidLines == 0 {
			e.InvalidLine = append(e.InvalidLine[:0], line[:min(len(line), MaxInvalidLine)]...)
		}
		e.InvalidLines++
	}

	return nil
}

func (e *Reader) addData(line []byte) error {
	if !e.hasData {
		e.data = nil
	}
	if len(e.data)+len(line) >= e.limit {
		return fmt.Errorf("%w: its data exceeds %d bytes", ErrEventTooLong, e.limit)
	}
	if !e.hasData {
		e.data, e.hasData, e.isJoined = line, true, false
		return nil
	}
	e.keepData()
	e.joined = append(append(e.joined, '\n'), line...)
	e.data = e.joined
	return nil
}

// keepData copies the data out of the buffer.
func (e *Reader) keepData() {
	if !e.isJoined {
		e.joined = append(e.joined[:0], e.data...)
		e.data, e.isJoined = e.joined, true
	}
}

// Fill reads once more, making room first. Bytes that come with an error are
// used before the error is returned.
func (e *Reader) Fill() error {
	if e.err != nil {
		return e.err
	}
	if e.hasData && !e.dispatched {
		e.keepData()
	}
	if err := e.makeRoom(); err != nil {
		return err
	}

	for range 100 {
		n, at, err := e.src.ReadStamped(e.buf[e.w:min(len(e.buf), e.w+largestRead)])
		if err == ErrWouldBlock { //nolint:errorlint // never wrapped, and asked for each event
			e.releaseScratch()
			return err // not the end: the next call looks again
		}
		e.At, e.err = at, err
		e.w += n
		e.Total += int64(n)
		if n > 0 {
			e.DataAt = at
			if e.Watch != nil {
				e.Watch.Alive(at)
			}
			return nil
		}
		if err != nil {
			e.releaseScratch()
			return err
		}
	}

	return io.ErrNoProgress
}

// releaseScratch switches back to the reader's own buffer, with what is not cut into
// lines yet.
func (e *Reader) releaseScratch() {
	if e.onScratch {
		e.own = append(e.own[:0], e.buf[e.r:e.w]...)
		e.buf, e.r, e.w, e.onScratch = e.own[:cap(e.own)], 0, len(e.own), false
	}
}

// useScratch switches to the lent buffer, unless what is kept would fill half of it.
func (e *Reader) useScratch() {
	if e.Scratch != nil && !e.onScratch && e.w-e.r < len(e.Scratch.buf)/2 {
		e.r, e.w = 0, copy(e.Scratch.buf[:], e.buf[e.r:e.w])
		e.buf, e.onScratch = e.Scratch.buf[:], true
	}
}

func (e *Reader) makeRoom() error {
	if e.useScratch(); e.r > 0 { // what is left is the start of a line, and short in most cases
		e.r, e.w = 0, copy(e.buf, e.buf[e.r:e.w])
	}
	if e.w < len(e.buf) {
		return nil
	}

	if len(e.buf) >= e.limit {
		return fmt.Errorf("%w: a line exceeds %d bytes", ErrEventTooLong, e.limit)
	}

	size := min(max(2*len(e.buf), firstBuffer), e.limit)
	if err := e.afford(2 * size); err != nil { // an event of several lines is copied once more
		return err
	}
	grown := make([]byte, size)
	e.w = copy(grown, e.buf[:e.w])
	e.buf, e.own, e.onScratch = grown, grown, false
	return nil
}

// freeBuffer is the size in bytes up to which a reader's buffers do not count.
const freeBuffer = 64 << 10

// afford takes out of the budget what buffers of that size need more than before.
func (e *Reader) afford(size int) error {
	if size <= freeBuffer || size <= e.taken {
		return nil
	}
	if !e.Budget.Take(size - e.taken) {
		return ErrOverBudget
	}
	e.taken = size
	return nil
}

// Partial returns the start of the event that the end of the stream cut off, "" if
// none.
func (e *Reader) Partial() string {
	switch {
	case e.hasData && !e.dispatched:
		return string(e.data[:min(len(e.data), MaxInvalidLine)])
	case e.w > e.r:
		return string(e.buf[e.r:min(e.w, e.r+MaxInvalidLine)])
	}
	return ""
}

// Spent reports whether all that was read has been cut.
func (e *Reader) Spent() bool { return e.r == e.w }

// Rest returns what was read and is not cut yet.
func (e *Reader) Rest() []byte { return e.buf[e.r:e.w] }

// Footprint returns the size in bytes of the buffers that the reader keeps.
func (e *Reader) Footprint() int { return cap(e.own) + cap(e.joined) }
