package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benchrig/bench/dataset/sessions"
	"github.com/benchrig/bench/load/dialect"
)

const stream = "data: {\"choices\":[{\"delta\":{\"content\":\"the secret answer\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\" goes on\"}}]}\n\n%sdata: [DONE]\n\n"

const usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":123,\"completion_tokens\":45}}\n\n"

// upstream answers chats as a stream, with usage where it was asked for;
// completions as a whole; and echoes anything else.
func upstream(t *testing.T) *url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "refuse me"):
			http.Error(w, "no", http.StatusBadRequest)
		case r.URL.Path == "/v1/completions":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"choices":[{"text":"abc"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
		case r.URL.Path == "/v1/chat/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			last := ""
			if strings.Contains(string(body), "include_usage") {
				last = usage
			}
			fmt.Fprintf(w, stream, last)
		default:
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
		}
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// post sends a request through the recorder and returns the answer.
func post(t *testing.T, base, path, body string, header ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer the-secret-key")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func chat(texts ...string) string {
	var messages []string
	for i, text := range texts {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], text))
	}
	return `{"messages":[` + strings.Join(messages, ",") + `],"stream":true,"stream_options":{"include_usage":true}}`
}

// recording starts a recorder and returns its address, what it wrote so far and itself.
func recording(t *testing.T, o Options) (base string, lines func() []line, r *Recorder) {
	t.Helper()
	out := &lockedBuffer{}
	o.Upstream, o.Out = upstream(t), out
	r = New(o)
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return server.URL, func() []line {
		server.Close() // waits for requests under way
		var all []line
		for text := range strings.Lines(out.String()) {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		return all
	}, r
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestRecordedTraffic(t *testing.T) {
	base, lines, r := recording(t, Options{})
	long := strings.Repeat("what nobody may read ", 40) // 840 bytes
	want := fmt.Sprintf(stream, usage)
	if got := post(t, base, "/v1/chat/completions", chat(long)); got != want {
		t.Errorf("the answer came as %q, want %q", got, want)
	}
	post(t, base, "/v1/chat/completions", chat("another beginning"))
	post(t, base, "/v1/chat/completions", chat(long, "the secret answer goes on", "and now?"))
	post(t, base, "/v1/completions", `{"prompt":"`+long+`"}`)
	if got := post(t, base, "/tokenize?x=1", "abc"); got != "POST /tokenize?x=1 abc" {
		t.Errorf("another path gave %q", got)
	}
	post(t, base, "/v1/chat/completions", chat("refuse me"))

	got := lines()
	if len(got) != 4 {
		t.Fatalf("%d lines, want 4", len(got))
	}
	if got[0].Session != got[2].Session || got[0].Session == got[1].Session || got[3].Session == got[0].Session {
		t.Errorf("sessions %s, %s, %s, %s: want the third in that of the first", got[0].Session, got[1].Session,
			got[2].Session, got[3].Session)
	}
	if got[0].Input != 123 || got[0].Output != 45 || got[3].Input != 7 || got[3].Output != 3 {
		t.Errorf("lengths %+v, want those that the server counted", got)
	}
	a, b := got[0].Hashes, got[2].Hashes
	if len(a) != 4 || len(b) != 4 || a[0] != b[0] || a[2] != b[2] || a[3] == b[3] {
		t.Errorf("blocks %v and %v, want the first three alike", a, b)
	}
	if got[0].Timestamp < 0 || got[2].Timestamp < got[1].Timestamp+got[1].Duration || got[0].Duration <= 0 {
		t.Errorf("times %+v", got)
	}
	if counts, err := r.Counts(); err != nil || counts != (Counts{Requests: 4, Sessions: 3, Skipped: 1}) {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

// Times count from the first request, whichever of several that came at once is
// taken up first: a replay knows no time before it.
func TestNoTimeIsNegative(t *testing.T) {
	for range 300 {
		r := New(Options{Upstream: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Out: io.Discard})
		var clients sync.WaitGroup
		for range 16 {
			clients.Go(func() {
				body := strings.NewReader(chat("hello"))
				b, err := r.take(httptest.NewRequest(http.MethodPost, "/v1/chat/completions", body))
				if err != nil || b.came.Before(r.start) {
					t.Errorf("a request came at %v, before the first one at %v (%v)", b.came, r.start, err)
				}
			})
		}
		clients.Wait()
	}
}

// Nothing of a text, a header or the client's name for a session is written.
func TestNothingIsReadable(t *testing.T) {
	out := &lockedBuffer{}
	r := New(Options{Upstream: upstream(t), Out: out, SessionHeader: "X-Session"})
	server := httptest.NewServer(r)
	post(t, server.URL, "/v1/chat/completions", chat("my secret question"), "X-Session", "secret-session")
	server.Close()
	if text := out.String(); text == "" || strings.Contains(text, "secret") || strings.Contains(text, "Bearer") {
		t.Errorf("recorded %q", text)
	}
}

func TestNamedSessions(t *testing.T) {
	base, lines, _ := recording(t, Options{SessionHeader: "X-Session"})
	for _, name := range []string{"a", "b", "a"} {
		post(t, base, "/v1/completions", `{"prompt":"`+name+`"}`, "X-Session", name)
	}
	if got := lines(); len(got) != 3 || got[0].Session != got[2].Session || got[0].Session == got[1].Session {
		t.Errorf("lines %+v, want two sessions", got)
	}
}

// Without counts of the server, lengths are estimated and counted as such.
func TestEstimatedLengths(t *testing.T) {
	base, lines, r := recording(t, Options{})
	post(t, base, "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"stream":true}`)
	message := len(`{"role":"user","content":"hi"}`)
	if got := lines(); len(got) != 1 || got[0].Output != 2 || got[0].Input != (message+3)/4 {
		t.Errorf("lines %+v, want 2 chunks and a fourth of %d bytes", got, message)
	}
	if counts, _ := r.Counts(); counts.Estimated != 1 {
		t.Errorf("counts %+v, want 1 estimated", counts)
	}
}

// An answer counts the same however its bytes come, and whatever a server makes of
// the rules of its stream.
func TestCounter(t *testing.T) {
	const chats, first = "/v1/chat/completions", `{"choices":[{"delta":{"content":"a"}}]}`
	const last = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}`
	for _, tt := range []struct {
		name, path, stream string
		input, output      int
		failed             bool
	}{
		{"events", chats, "data: " + first + "\n\ndata: " + last + "\n\ndata: [DONE]\n\n", 9, 4, false},
		{"CR and comments", chats, ": hello\r\rdata:" + first + "\r\rid: 7\rdata: " + last + "\r\r", 9, 4, false},
		{
			"data in several lines", chats,
			"data: " + strings.ReplaceAll(last, ",", ",\ndata: ") + "\n\n", 9, 4, false,
		},
		{"cut off", chats, "data: " + first + "\n\ndata: " + last + "\n", 1, 1, false},
		{
			"a last line without its end", "/api/chat",
			"{\"message\":{\"content\":\"a\"}}\n{\"done\":true,\"prompt_eval_count\":9,\"eval_count\":4}", 9, 4, false,
		},
		{"an event too long", chats, "data: " + strings.Repeat("x", 5<<20) + "\n\ndata: " + last + "\n\n", 1, 0, true},
	} {
		for _, piece := range []int{1, 7, 100_000} {
			if piece < 100_000 && len(tt.stream) > 1<<20 {
				continue
			}
			api, _ := dialect.OfPath(tt.path)
			c := newCounter(api)
			for chunk := range slices.Chunk([]byte(tt.stream), piece) {
				c.add(chunk)
			}
			c.end()
			input, output, _ := c.lengths(1)
			if input != tt.input || output != tt.output || c.failed != tt.failed {
				t.Errorf("%s in pieces of %d bytes: %d tokens in, %d out, failed %t, want %d, %d, %t", tt.name, piece,
					input, output, c.failed, tt.input, tt.output, tt.failed)
			}
		}
	}
}

// What is recorded can be replayed.
func TestReplayedRecording(t *testing.T) {
	out := &lockedBuffer{}
	r := New(Options{Upstream: upstream(t), Out: out})
	server := httptest.NewServer(r)
	post(t, server.URL, "/v1/chat/completions", chat("a"))
	post(t, server.URL, "/v1/chat/completions", chat("a", "b", "c"))
	server.Close()

	list, _, err := sessions.Read(t.Context(), strings.NewReader(out.String()), 5)
	if err != nil || len(list) != 1 || len(list[0].Requests) != 2 {
		t.Fatalf("sessions %+v, %v; want one of two requests", list, err)
	}
	if second := list[0].Requests[1]; !second.Whole || second.Input != 123 || len(second.After) != 1 {
		t.Errorf("second request %+v, want a whole prompt after the first", second)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte(chat("a", "b")))
	f.Add([]byte(`{"prompt":[1,2,3]}`))
	f.Add([]byte(`{"messages":[],"prompt":["a","b"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		texts, err := textsOf(body)
		if err != nil {
			return
		}
		p := (&hasher{key: []byte("k")}).prompt(texts)
		if len(p.pieces) != len(texts) {
			t.Errorf("%d hashes of %d pieces", len(p.pieces), len(texts))
		}
		newSessionFinder().of(p)
	})
}

func FuzzCounter(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(stream, usage)), false)
	f.Add([]byte(`{"choices":[{"text":"abc"}],"usage":{"prompt_tokens":7}}`), true)
	f.Fuzz(func(t *testing.T, answer []byte, whole bool) {
		api, _ := dialect.OfPath("/v1/completions")
		c := newCounter(api)
		c.whole = whole
		for part := range bytes.SplitSeq(answer, []byte("x")) {
			c.add(part)
		}
		if in, out, _ := c.lengths(5); in < 0 || out < 0 {
			t.Errorf("%d and %d tokens", in, out)
		}
	})
}
