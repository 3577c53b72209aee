package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
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

const streamHeader = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// stream is a whole answer holding body.
func stream(body string) string {
	return streamHeader + string(loadtest.Chunked([][]byte{[]byte(body)}))
}

// say answers every request with the same bytes.
func say(b string) answerFunc {
	return func(w io.Writer, _ *http.Request, _ int) bool {
		_, err := io.WriteString(w, b)
		return err == nil
	}
}

func options(url, api string) Options {
	path := "/v1/completions"
	if api == "chat" {
		path = "/v1/chat/completions"
	}
	return Options{
		Target:   Target{BaseURLs: []string{url}, Path: path, API: api, Model: "m"},
		Settings: spec.Settings{KeepText: true, Transport: loadtest.Transport()},
	}
}

// runAll runs and returns the records by index.
func runAll(ctx context.Context, t testing.TB, o Options, prompts []dialect.Prompt) ([]results.Record,
	results.ClientReport,
) {
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
	prompt := dialect.Prompt{Text: "hello", InputTokens: 1, OutputTokens: 8}
	if api, err := dialect.APINamed(o.Target.API); err == nil && api.Numbers {
		prompt.Texts = []string{"there"}
	}
	if api, err := dialect.APINamed(o.Target.API); err == nil && api.Audio {
		prompt = dialect.Prompt{Audio: []byte("RIFF"), AudioS: 1, OutputTokens: 8}
	}
	records, _ := runAll(t.Context(), t, o, []dialect.Prompt{prompt})
	if len(records) != 1 {
		t.Fatalf("got %d records, want 1", len(records))
	}
	return records[0]
}

func manyPrompts(n int) []dialect.Prompt {
	prompts := make([]dialect.Prompt, n)
	for i := range prompts {
		prompts[i] = dialect.Prompt{Text: strings.Repeat("x ", 5), OutputTokens: 4}
	}
	return prompts
}
