package sse

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
)

// referenceLines is what JSON lines are, in few words.
func referenceLines(stream string) (lines []string) {
	all := strings.Split(stream, "\n")
	for i, line := range all {
		if line = strings.TrimSpace(line); line != "" && (i < len(all)-1 || json.Valid([]byte(line))) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestLineReader(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		{"no last end", "{\"a\":1}\n{\"b\":2}", []string{`{"a":1}`, `{"b":2}`}},
		{"crlf and blanks", "\r\n{\"a\":1}\r\n\n \n{}\n", []string{`{"a":1}`, `{}`}},
		{"a lone cr is white space", "{\r}\n", []string{"{\r}"}},
		{"not JSON but a line", "oops\n{}\n", []string{"oops", "{}"}},
		{"cut off", "{}\n{\"a", []string{"{}"}},
		{"sse fields are lines too", "data: {}\n", []string{"data: {}"}},
		{
			"longer than any buffer", `"` + strings.Repeat("x", 200_000) + "\"\n1\n",
			[]string{`"` + strings.Repeat("x", 200_000) + `"`, "1"},
		},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		if got := referenceLines(tt.stream); !cmp.Equal(got, tt.want) {
			t.Errorf("%s: the reference reads %.100q, want %.100q", tt.name, got, tt.want)
		}
		for _, split := range loadtest.Splitters() {
			if len(tt.stream) > split.Most {
				continue
			}
			got, err := readEvents(&Reader{Lines: true}, split.Cut([]byte(tt.stream)))
			if !errors.Is(err, io.EOF) || !cmp.Equal(got, tt.want) {
				t.Errorf("%s, %s: got %.100q, %v, want %.100q", tt.name, split.Name, got, err, tt.want)
			}
		}
	}
}

// TestLineStamps: a line bears the time of the read that completed it; one
// that only the end of the stream completed, that of its last bytes.
func TestLineStamps(t *testing.T) {
	e := &Reader{Lines: true}
	e.Reset(&parts{pieces: [][]byte{[]byte("{"), []byte("}\n{}\n["), []byte("]\n"), []byte("1"), []byte("2")}})
	var got []time.Duration
	for {
		_, at, err := e.Next()
		if err != nil {
			break
		}
		got = append(got, at/time.Millisecond)
	}
	if want := []time.Duration{2, 2, 3, 5}; !cmp.Equal(got, want) {
		t.Errorf("lines stamped at reads %v, want %v", got, want)
	}
}

func TestLineLimit(t *testing.T) {
	got, err := readEvents(&Reader{Lines: true, limit: 8 << 10}, [][]byte{[]byte(strings.Repeat("x", 9000))})
	if !errors.Is(err, ErrEventTooLong) || len(got) != 0 {
		t.Errorf("got %d lines and error %v, want none and %v", len(got), err, ErrEventTooLong)
	}
}

func FuzzLineReader(f *testing.F) {
	for _, s := range []string{"{}\n[1]\n", "a\r\n\r\nb", "\n\n1", "\x00\n\xff", "{\"a\":\"\\n\"}"} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := referenceLines(string(stream))
		e := &Reader{Lines: true}
		for _, cut := range []func([]byte) [][]byte{
			func(b []byte) [][]byte { return [][]byte{b} },
			func(b []byte) [][]byte { return loadtest.Pieces(b, func() int { return 1 }) },
			loadtest.RandomPieces(seed, 40),
		} {
			in := cut(stream)
			if len(stream) == 0 {
				in = nil
			}
			got, err := readEvents(e, in)
			if !errors.Is(err, io.EOF) || !cmp.Equal(got, want) {
				t.Fatalf("stream %q in %d pieces: got %q, %v, want %q", stream, len(in), got, err, want)
			}
		}
	})
}
