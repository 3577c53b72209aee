package sse

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
)

// parts is a body that arrives in given pieces, one a millisecond.
type parts struct {
	pieces [][]byte
	reads  int
	err    error // at the end; nil: io.EOF
}

func (p *parts) ReadStamped(b []byte) (int, time.Duration, error) {
	p.reads++
	at := time.Duration(p.reads) * time.Millisecond
	if len(p.pieces) == 0 {
		if p.err != nil {
			return 0, at, p.err
		}
		return 0, at, io.EOF
	}
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; len(p.pieces[0]) == 0 {
		p.pieces = p.pieces[1:]
	}
	return n, at, nil
}

// readEvents reads all events of a stream that arrives in pieces.
func readEvents(e *Reader, pieces [][]byte) (events []string, err error) {
	e.Reset(&parts{pieces: pieces})
	for {
		data, _, err := e.Next()
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

// endlessEvents repeats an event for ever and notes the smallest room that it was given.
type endlessEvents struct {
	event string
	at    int
	least int
}

func (s *endlessEvents) ReadStamped(b []byte) (int, time.Duration, error) {
	s.least = min(s.least, len(b))
	for i := range b {
		b[i] = s.event[s.at]
		s.at = (s.at + 1) % len(s.event)
	}
	return len(b), 0, nil
}

// A read that fills the buffer is not followed by one of the few bytes that the start of an
// event left in it.
func TestReadsAreLarge(t *testing.T) {
	src := &endlessEvents{event: "data: " + loadtest.Token + "\n\n", least: 1 << 30}
	e := &Reader{}
	e.Reset(src)
	e.Scratch = new(Scratch)
	for range 10_000 {
		if data, _, err := e.Next(); err != nil || string(data) != loadtest.Token {
			t.Fatalf("event %q, %v", data, err)
		}
	}
	if want := largestRead - len(src.event); src.least < want {
		t.Errorf("a read of %d bytes, want %d at least", src.least, want)
	}
}

// waits is a body with nothing to read after each piece.
type waits struct {
	parts

	paused int // pieces left at the last pause
}

func (w *waits) ReadStamped(b []byte) (int, time.Duration, error) {
	if left := len(w.pieces); left != w.paused {
		w.paused = left
		return 0, 0, ErrWouldBlock
	}
	return w.parts.ReadStamped(b)
}

// readLent is readEvents with a lent buffer that others write over while there
// is nothing to read.
func readLent(e *Reader, pieces [][]byte) (events []string, err error) {
	e.Reset(&waits{parts: parts{pieces: pieces}})
	e.Scratch = new(Scratch)
	spoil := bytes.Repeat([]byte("data: not ours\n\n"), len(e.Scratch.buf)/16)
	for {
		data, _, err := e.Next()
		if errors.Is(err, ErrWouldBlock) {
			copy(e.Scratch.buf[:], spoil)
			continue
		}
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

// referenceEvents is the standard's algorithm, word for word and slowly.
func referenceEvents(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	lines := strings.Split(stream, "\n")
	buffer := ""
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if buffer != "" {
				events = append(events, strings.TrimSuffix(buffer, "\n"))
			}
			buffer = ""
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		if name == "data" {
			buffer += strings.TrimPrefix(value, " ") + "\n"
		}
	}
	return events
}

func TestEventReader(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"lf", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		{"cr", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
		{"mixed ends", "data: a\n\r\ndata: b\r\n\rdata: c\r\n\n", []string{"a", "b", "c"}},
		{"no space", "data:a\n\n", []string{"a"}},
		{"one space only is dropped", "data:  a \n\n", []string{" a "}},
		{"several data lines", "data: a\ndata\ndata:b\n\n", []string{"a\n\nb"}},
		{"empty data", "data\n\ndata:\n\n", []string{"", ""}},
		{"comments", ": ping\n\n:\n\ndata: a\n: between\n\n", []string{"a"}},
		{"other fields", "event: x\nid: 7\nretry: 10\ndata: a\n\n", []string{"a"}},
		{"field without data is not an event", "event: ping\n\nid: 1\n\n", nil},
		{"unknown fields", "dat: a\nDATA: b\n data: c\ndata : d\n\n", nil},
		{"colons in value", "data: a:b: c\n\n", []string{"a:b: c"}},
		{"bom", "\ufeffdata: a\n\n", []string{"a"}},
		{"bom once", "\ufeff\ufeffdata: a\n\n", nil},
		{"bom inside", "data: \ufeffa\n\n", []string{"\ufeffa"}},
		{"cut off by the end", "data: a\n\ndata: b\n", []string{"a"}},
		{"cut off in a line", "data: a\n\ndata: b", []string{"a"}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []string{"a"}},
		{"multi-byte", "data: é漢😀\n\n", []string{"é漢😀"}},
		{"not utf-8", "data: \xff\xc3\n\n", []string{"\xff\xc3"}},
		{
			"line longer than any buffer", "data: " + strings.Repeat("x", 300_000) + "\n\ndata: b\n\n",
			[]string{strings.Repeat("x", 300_000), "b"},
		},
	}
	for _, tt := range tests {
		if got := referenceEvents(tt.stream); !cmp.Equal(got, tt.want) {
			t.Errorf("%s: the reference reads %.200q, want %.200q", tt.name, got, tt.want)
		}
		for _, split := range loadtest.Splitters() {
			for _, read := range []func(*Reader, [][]byte) ([]string, error){readEvents, readLent} {
				got, err := read(new(Reader), split.Cut([]byte(tt.stream)))
				if !errors.Is(err, io.EOF) || !cmp.Equal(got, tt.want) {
					t.Errorf("%s, %s: got %.200q and error %v, want %.200q and EOF", tt.name, split.Name,
						got, err, tt.want)
				}
			}
		}
	}
}

func TestEventReaderLimits(t *testing.T) {
	tests := []struct{ name, stream string }{
		{"long line", "data: " + strings.Repeat("x", 9000)},
		{"long comment", ":" + strings.Repeat("x", 9000)},
		{"many data lines", strings.Repeat("data: 0123456789\n", 900)},
	}
	for _, tt := range tests {
		e := &Reader{limit: 8 << 10}
		got, err := readEvents(e, [][]byte{[]byte(tt.stream)})
		if !errors.Is(err, ErrEventTooLong) || len(got) != 0 {
			t.Errorf("%s: got %d events and error %v, want none and %v", tt.name, len(got), err, ErrEventTooLong)
		}
	}
}

// TestEventStamps: an event bears the time of the read that completed it, even
// if several came in one read.
func TestEventStamps(t *testing.T) {
	e := new(Reader)
	e.Reset(&parts{pieces: [][]byte{
		[]byte("da"), []byte("ta: a\n"), []byte("\ndata: b\n\ndata: c\n\nda"),
		[]byte("ta: d\r"), []byte("\r"), []byte("\n"),
	}})
	var got []time.Duration
	for {
		_, at, err := e.Next()
		if err != nil {
			break
		}
		got = append(got, at/time.Millisecond)
	}
	if want := []time.Duration{3, 3, 3, 5}; !cmp.Equal(got, want) {
		t.Errorf("events stamped at reads %v, want %v", got, want)
	}
}

func TestEventReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	e := new(Reader)
	e.Reset(&parts{pieces: [][]byte{[]byte("data: a\n\nfoo: bar\ndata: half")}, err: broken})
	data, _, err := e.Next()
	if string(data) != "a" || err != nil {
		t.Fatalf("next() = %q, %v, want a", data, err)
	}
	if _, _, err = e.Next(); !errors.Is(err, broken) {
		t.Errorf("next() error = %v, want %v", err, broken)
	}
	if e.InvalidLines != 1 || string(e.InvalidLine) != "foo: bar" {
		t.Errorf("odd lines: %d, first %q, want 1, foo: bar", e.InvalidLines, e.InvalidLine)
	}
	if got := e.Partial(); got != "data: half" {
		t.Errorf("partial() = %q, want data: half", got)
	}
	e.Reset(&idle{})
	if _, _, err := e.Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("next() on a source that gives nothing = %v, want %v", err, io.ErrNoProgress)
	}
}

// idle never delivers anything.
type idle struct{}

func (idle) ReadStamped([]byte) (int, time.Duration, error) { return 0, 0, nil }

func FuzzEventReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data:a\r\n\r\n", "\ufeffdata: a\r\rdata: b\n\n", ": x\ndata\ndata: y\n\n",
		"event: e\nid\n\ndata: z",
		"data: {\"a\":1}\ndata: [DONE]\n\n", "\r\n\r\n\r", "data: \xff\n\n",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := referenceEvents(string(stream))
		e := new(Reader)
		for _, cut := range []func([]byte) [][]byte{
			func(b []byte) [][]byte { return [][]byte{b} },
			func(b []byte) [][]byte { return loadtest.Pieces(b, func() int { return 1 }) },
			loadtest.RandomPieces(seed, 40),
		} {
			in := cut(stream)
			if len(stream) == 0 {
				in = nil
			}
			for _, read := range []func(*Reader, [][]byte) ([]string, error){readEvents, readLent} {
				got, err := read(e, slices.Clone(in))
				if !errors.Is(err, io.EOF) || !cmp.Equal(got, want) {
					t.Fatalf("stream %q in %d pieces: got %q, %v, want %q", stream, len(in), got, err, want)
				}
			}
		}
	})
}
