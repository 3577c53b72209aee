// Package loadtest has what tests of the load packages share: recorded and
// made-up streams, and ways to split them over reads.
//
// What goes in: captures in testdata, seeds. What comes out: bytes as a server
// sends them, cut at given places. It opens no connection and never ships.
package loadtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// Splitter cuts bytes into writes, and into HTTP chunks too with Frames.
type Splitter struct {
	Name   string
	Cut    func(b []byte) [][]byte
	Frames bool
	Most   int // bytes of a body that it is meant for
}

// Splitters are ways in which a network may deliver bytes.
func Splitters() []Splitter {
	return []Splitter{
		{"all at once", func(b []byte) [][]byte { return [][]byte{b} }, false, 1 << 30},
		{"byte by byte", func(b []byte) [][]byte { return Pieces(b, func() int { return 1 }) }, false, 6 << 10},
		{"random 1", RandomPieces(1, 15), true, 10 << 10},
		{"random 2", RandomPieces(2, 300), true, 1 << 30},
	}
}

// RandomPieces cuts into pieces of 1 to most bytes.
func RandomPieces(seed uint64, most int) func([]byte) [][]byte {
	return func(b []byte) [][]byte {
		rng := rand.New(rand.NewPCG(seed, 7))
		return Pieces(b, func() int { return 1 + rng.IntN(most) })
	}
}

// Pieces cuts b into pieces of the sizes that size returns.
func Pieces(b []byte, size func() int) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := min(size(), len(b))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

// Chunked Frames each piece as an HTTP chunk of its own.
func Chunked(parts [][]byte) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// Capture reads a recorded answer; the body was stored without its Chunked
// framing.
func Capture(t testing.TB, path string) (header string, body []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("%s holds no header", path)
	}
	return string(head) + "\r\n\r\n", body
}

// Frame is one HTTP chunk.
func Frame(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// Event is one server-sent event as an HTTP chunk.
func Event(data string) string { return Frame("data: " + data + "\n\n") }

// Data of a stream: a token, its last event, and the end of a chunked body.
const (
	Token    = `{"choices":[{"text":" a","finish_reason":null}]}`
	Last     = `{"choices":[{"text":"","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	EndFrame = "0\r\n\r\n"
)

// TransportEnv makes every test of the package use the transport it names.
const TransportEnv = "BENCH_TEST_TRANSPORT"

// Transport is the transport that the tests are to use, "" for any.
func Transport() string { return os.Getenv(TransportEnv) }

// OnSockets skips a test of our own transport where the suite runs over
// another.
func OnSockets(t testing.TB) {
	t.Helper()
	if Transport() != "" {
		t.Skip("about the sockets transport")
	}
}
