package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/results"
)

// rawServer answers each request on loopback with bytes that answer writes to
// the connection. A connection ends when answer returns false.
type rawServer struct {
	url string
	mu  sync.Mutex
	got []string // request bodies
	hdr []http.Header
}

type answerFunc func(w io.Writer, r *http.Request, n int) (keep bool)

func newRawServer(t testing.TB, answer answerFunc) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{url: "http://" + l.Addr().String()}
	var wg sync.WaitGroup
	var open sync.Map
	t.Cleanup(func() {
		l.Close()
		open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		wg.Wait()
	})
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			wg.Go(func() {
				defer conn.Close()
				s.serve(conn, answer)
			})
		}
	})
	return s
}

func (s *rawServer) serve(conn net.Conn, answer answerFunc) {
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, string(body))
		s.hdr = append(s.hdr, req.Header)
		n := len(s.got) - 1
		s.mu.Unlock()
		if !answer(conn, req, n) {
			return
		}
	}
}

// requests is how many came so far.
func (s *rawServer) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// splitter cuts bytes into writes, and into HTTP chunks too with frames.
type splitter struct {
	name   string
	cut    func(b []byte) [][]byte
	frames bool
	most   int // bytes of a body that it is meant for
}

func splitters() []splitter {
	return []splitter{
		{"all at once", func(b []byte) [][]byte { return [][]byte{b} }, false, 1 << 30},
		{"byte by byte", func(b []byte) [][]byte { return pieces(b, func() int { return 1 }) }, false, 6 << 10},
		{"random 1", randomPieces(1, 15), true, 10 << 10},
		{"random 2", randomPieces(2, 300), true, 1 << 30},
	}
}

func randomPieces(seed uint64, most int) func([]byte) [][]byte {
	return func(b []byte) [][]byte {
		rng := rand.New(rand.NewPCG(seed, 7))
		return pieces(b, func() int { return 1 + rng.IntN(most) })
	}
}

func pieces(b []byte, size func() int) [][]byte {
	var out [][]byte
	for len(b) > 0 {
		n := min(size(), len(b))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

// chunked frames each piece as an HTTP chunk of its own.
func chunked(parts [][]byte) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

const streamHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// stream is a whole answer holding body.
func stream(body string) string { return streamHeader + string(chunked([][]byte{[]byte(body)})) }

// say answers every request with the same bytes.
func say(b string) answerFunc {
	return func(w io.Writer, _ *http.Request, _ int) bool {
		_, err := io.WriteString(w, b)
		return err == nil
	}
}

// capture reads a recorded answer; the body was stored without its chunked
// framing.
func capture(t testing.TB, path string) (header string, body []byte) {
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

func options(url, api string) Options {
	path := "/v1/completions"
	if api == "chat" {
		path = "/v1/chat/completions"
	}
	return Options{Target: Target{BaseURLs: []string{url}, Path: path, API: api, Model: "m"}, KeepText: true, Transport: testTransport()}
}

// runAll runs and returns the records by index.
func runAll(ctx context.Context, t testing.TB, o Options, prompts []Prompt) ([]results.Record, results.ClientReport) {
	t.Helper()
	var records []results.Record
	report, err := Run(ctx, o, prompts, func(r results.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return records, report
}

// one runs a single request.
func one(t testing.TB, o Options) results.Record {
	t.Helper()
	records, _ := runAll(t.Context(), t, o, []Prompt{{Text: "hello", InputTokens: 1, OutputTokens: 8}})
	if len(records) != 1 {
		t.Fatalf("got %d records, want 1", len(records))
	}
	return records[0]
}

func manyPrompts(n int) []Prompt {
	prompts := make([]Prompt, n)
	for i := range prompts {
		prompts[i] = Prompt{Text: strings.Repeat("x ", 5), OutputTokens: 4}
	}
	return prompts
}
