package simserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// live is a simulator that serves on a loopback port during a test.
type live struct {
	url    string
	client *http.Client
	log    *safeBuffer
	cancel context.CancelFunc
	ended  chan struct{} // closed when Run returned
	err    error         // what Run returned
}

// safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// fast is a config whose tests do not take long.
func fast() simengine.Config {
	return simengine.Config{AnyPort: true, Model: "test/Llama-1B", Speed: 50, MaxModelLen: 4096, Truth: 64}
}

// launch serves cfg until the test ends and waits until it accepts requests.
func launch(t *testing.T, cfg simengine.Config) *live {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	transport := &http.Transport{}
	l := &live{
		log: &safeBuffer{}, cancel: cancel, ended: make(chan struct{}),
		client: &http.Client{Transport: transport, Timeout: 20 * time.Second},
	}
	addr := make(chan string, 1)
	cfg.OnListen = func(a string) { addr <- a }
	go func() {
		defer close(l.ended)
		l.err = Run(ctx, cfg, l.log)
	}()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		<-l.ended
	})
	select {
	case a := <-addr:
		l.url = "http://" + a
	case <-l.ended:
		t.Fatalf("Run() = %v before it listened; log:\n%s", l.err, l.log)
	}
	return l
}

// reply is a finished HTTP exchange.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (l *live) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, l.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(b), err}
}

func (l *live) get(t *testing.T, path string) reply        { return l.do(t, "GET", path, "") }
func (l *live) post(t *testing.T, path, body string) reply { return l.do(t, "POST", path, body) }

// chunk is what the tests read of a streamed chunk, in either dialect.
type chunk struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Model   string `json:"model"`
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Role    *string `json:"role"`
			Content *string `json:"content"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
		TokenIDs     []int32 `json:"token_ids"`
	} `json:"choices"`
	Usage   *usage          `json:"usage"`
	Timings *timings        `json:"timings"`
	Error   json.RawMessage `json:"error"`
}

// chunks parses the events of a stream; done says whether [DONE] came last.
func chunks(t *testing.T, body string) (list []chunk, done bool) {
	t.Helper()
	sc := bufio.NewScanner(strings.NewReader(body))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		switch {
		case sc.Text() == "":
		case !ok:
			t.Fatalf("line %q does not begin with data:", sc.Text())
		case data == "[DONE]":
			done = true
		default:
			var c chunk
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				t.Fatalf("chunk %q: %v", data, err)
			}
			if done {
				t.Fatalf("chunk %q after [DONE]", data)
			}
			list = append(list, c)
		}
	}
	return list, done
}

// texts joins what the chunks say.
func texts(list []chunk) string {
	var b strings.Builder
	for _, c := range list {
		for _, choice := range c.Choices {
			b.WriteString(choice.Text)
			if choice.Delta.Content != nil {
				b.WriteString(*choice.Delta.Content)
			}
		}
	}
	return b.String()
}

func decode[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil || r.err != nil {
		t.Fatalf("decode %q: %v, %v", r.body, err, r.err)
	}
	return v
}
