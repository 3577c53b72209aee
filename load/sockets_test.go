package load

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// TestOverNetHTTP runs the package's tests once more, over net/http.
func TestOverNetHTTP(t *testing.T) {
	if loadtest.Transport() != "" || testing.Short() {
		t.Skip("within itself")
	}
	limit := time.Duration(0) // none
	if end, ok := t.Deadline(); ok {
		limit = time.Until(end)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.timeout="+limit.String())
	cmd.Env = append(os.Environ(), loadtest.TransportEnv+"="+spec.TransportHTTP)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestChooseTransport(t *testing.T) {
	for _, tt := range []struct{ asked, url, want, words string }{
		{"", "http://a", spec.TransportSockets, ""},
		{"", "https://a", spec.TransportHTTP, ""},
		{spec.TransportSockets, "http://a", spec.TransportSockets, ""},
		{spec.TransportHTTP, "http://a", spec.TransportHTTP, ""},
		{spec.TransportSockets, "https://a", "", `"sockets" carries no https`},
		{"quic", "http://a", "", `unknown transport "quic"`},
	} {
		o := options(tt.url, "completions")
		o.Transport = tt.asked
		urls, err := targetURLs(o.Target)
		if err != nil {
			t.Fatal(err)
		}
		transport, err := wire.New(o.wire(urls, 1, nil))
		if err != nil {
			if tt.words == "" || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("newTransport(%q, %s): %v, want %q", tt.asked, tt.url, err, tt.words)
			}
			continue
		}
		transport.Start(wire.StartClock())
		var r results.ClientReport
		transport.Close(&r)
		if r.Transport != tt.want || r.Stamps != "user" || r.LagMaxS != nil {
			t.Errorf("newTransport(%q, %s) reports %+v, want %q", tt.asked, tt.url, r, tt.want)
		}
	}
}

// TestKernelStamps: each chunk's time lies between the server's write and our
// reading, whose distance is the lag.
func TestKernelStamps(t *testing.T) {
	loadtest.OnSockets(t)
	loadtest.WithStamps(t)
	const tokens = 50
	var wrote [tokens]atomic.Int64 // wall time
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		if _, err := io.WriteString(w, streamHeader); err != nil {
			return false
		}
		for i := range tokens {
			time.Sleep(2 * time.Millisecond)
			wrote[i].Store(time.Now().UnixNano())
			if _, err := io.WriteString(w, loadtest.Event(loadtest.Token)); err != nil {
				return false
			}
		}
		_, err := io.WriteString(w, loadtest.Event("[DONE]")+loadtest.EndFrame)
		return err == nil
	})
	before := time.Now()
	records, report := runAll(t.Context(), t, options(s.url, "completions"), manyPrompts(1))
	took := time.Since(before)
	if report.Transport != spec.TransportSockets || report.Stamps != "kernel" || report.LagP50S == nil ||
		report.ClockStepS == nil {
		t.Fatalf("report %+v, want kernel stamps", report)
	}
	if *report.LagP50S < 0 || *report.LagMaxS > took.Seconds() || *report.LagP99S > *report.LagMaxS ||
		*report.LagP50S > *report.LagP99S {
		t.Errorf("lag %v, %v, %v", *report.LagP50S, *report.LagP99S, *report.LagMaxS)
	}
	r := records[0]
	if len(r.ChunkS) != tokens {
		t.Fatalf("%d chunks, failure %v, want %d", len(r.ChunkS), r.Failure, tokens)
	}
	start, err := time.Parse(time.RFC3339Nano, report.StartTime)
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range r.ChunkS {
		// Wall times: a step of the clock within the test's 100 ms would fail it.
		after := time.Duration(start.UnixNano() + int64(at*1e9) - wrote[i].Load())
		if after < -50*time.Microsecond || after > time.Minute {
			t.Errorf("chunk %d is stamped %v after its write", i, after)
		}
	}
}

// TestSharedReads: tokens that come together are counted, the first of each
// read not among them.
func TestSharedReads(t *testing.T) {
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		return script{
			{0, streamHeader + loadtest.Event(loadtest.Token)},
			{100 * time.Millisecond, loadtest.Event(loadtest.Token) + loadtest.Event(loadtest.Token) +
				loadtest.Event(loadtest.Token)},
			{100 * time.Millisecond, loadtest.Event(loadtest.Token) + loadtest.Event(loadtest.Last) +
				loadtest.Event("[DONE]") + loadtest.EndFrame},
		}.play(w)
	})
	records, report := runAll(t.Context(), t, options(s.url, "completions"), manyPrompts(2))
	for _, r := range records {
		if r.Failure != nil || r.ChunkKinds != "tttttf" {
			t.Errorf("failure %v, kinds %q", r.Failure, r.ChunkKinds)
		}
	}
	if report.SharedReads != 4 {
		t.Errorf("%d tokens share a read, want 4", report.SharedReads)
	}
}

// TestStreamIsCut: bytes and the connection's end in one packet are both seen,
// and at once where the machine has time: the shortest of 30 counts.
func TestStreamIsCut(t *testing.T) {
	least := math.Inf(1) // s
	for range 30 {
		s := newRawServer(t, func(w io.Writer, r *http.Request, n int) bool {
			return say(streamHeader+loadtest.Event(loadtest.Token))(w, r, n) && false
		})
		r := one(t, options(s.url, "completions"))
		if r.Failure == nil || r.Failure.Class != results.FailTransport || r.ChunkKinds != "t" {
			t.Fatalf("failure %v, kinds %q, want transport after one chunk", r.Failure, r.ChunkKinds)
		}
		least = min(least, r.EndS-r.ChunkS[0])
	}
	if least > 0.5 {
		t.Errorf("the end was seen after %v s at the earliest", least)
	}
}

// TestReset: a reset right behind the bytes is noticed by the sweep at last.
func TestReset(t *testing.T) {
	for range 5 {
		s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
			_, _ = io.WriteString(w, streamHeader+loadtest.Event(loadtest.Token))
			_ = w.(*net.TCPConn).SetLinger(0)
			return false
		})
		r := one(t, options(s.url, "completions")) // for ever, if it is not noticed
		if r.Failure == nil || r.Failure.Class != results.FailTransport {
			t.Fatalf("failure %v, want transport", r.Failure)
		}
	}
}

// TestSilentStreamGoesOn: the sweep harms no stream that is merely slow.
func TestSilentStreamGoesOn(t *testing.T) {
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		return script{{0, streamHeader + loadtest.Event(loadtest.Token)}, {
			2300 * time.Millisecond,
			loadtest.Event(loadtest.Token) + loadtest.Event("[DONE]") + loadtest.EndFrame,
		}}.play(w)
	})
	if r := one(t, options(s.url, "completions")); r.Failure != nil || r.ChunkKinds != "tt" {
		t.Errorf("failure %v, kinds %q, want two chunks", r.Failure, r.ChunkKinds)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", loadtest.Token)
		if r.Host != "name" {
			t.Errorf("host %q, want name", r.Host)
		}
	})}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	defer func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("server ended with %v", err)
		}
	}()
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		o := options("http://name", "completions")
		o.Transport, o.Target.UnixSocket = transport, path
		records, report := runAll(t.Context(), t, o, manyPrompts(3))
		for _, r := range records {
			if r.Failure != nil || r.ChunkKinds != "t" {
				t.Errorf("%s: failure %v, kinds %q", transport, r.Failure, r.ChunkKinds)
			}
		}
		if len(records) != 3 || report.Transport != transport || report.Stamps != "user" {
			t.Errorf("%s: %d records, report %+v", transport, len(records), report)
		}
	}
}

func TestFirstWave(t *testing.T) {
	for _, tt := range []struct {
		arrivals    []float64
		width, want int
	}{
		{nil, 5, 5},
		{nil, 1 << 20, waveMax},
		{[]float64{0, 0, 1}, 3, 2},
		{[]float64{0, 0, 0}, 2, 2},
		{[]float64{0.1, 1}, 2, 0},
	} {
		if got := firstWave(&Options{Arrivals: tt.arrivals}, tt.width); got != tt.want {
			t.Errorf("firstWave(%v, %d) = %d, want %d", tt.arrivals, tt.width, got, tt.want)
		}
	}
}

// TestAnswerBeforeRequest: a server that refuses a large request without
// reading it is heard.
func TestAnswerBeforeRequest(t *testing.T) {
	loadtest.OnSockets(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.CopyN(io.Discard, conn, 1000)
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 7\r\n\r\nshorter")
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.CopyN(io.Discard, conn, 1<<20)
	}()
	o := options("http://"+l.Addr().String(), "completions")
	o.Timeouts.Total = 10 * time.Second
	records, _ := runAll(t.Context(), t, o, []dialect.Prompt{{Text: strings.Repeat("x", 16<<20), OutputTokens: 1}})
	if f := records[0].Failure; f == nil || f.HTTPStatus != 413 && f.Class != results.FailTransport {
		t.Errorf("failure %v, want status 413, or a broken connection", f)
	}
}

func TestInterimAnswers(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
	good := stream("data: " + loadtest.Token + "\n\ndata: [DONE]\n\n")
	for n, wantFailure := range map[int]bool{0: false, 1: false, 6: false, 40_000: true} {
		s := newRawServer(t, say(strings.Repeat(early, n)+good))
		if r := one(t, options(s.url, "completions")); (r.Failure != nil) != wantFailure {
			t.Errorf("%d interim answers: failure %v, want one: %v", n, r.Failure, wantFailure)
		}
	}
}

func TestEndlessHead(t *testing.T) {
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\n")
		for {
			if _, err := io.WriteString(w, "A: "+strings.Repeat("x", 10000)+"\r\n"); err != nil {
				return false
			}
		}
	})
	if r := one(t, options(s.url, "completions")); r.Failure == nil || !strings.Contains(r.Failure.Message, "exceeds") {
		t.Errorf("failure %v, want one about the header's size", r.Failure)
	}
}

// TestReuse: a connection serves again only after an answer that it could
// carry to its end.
func TestReuse(t *testing.T) {
	body := "data: " + loadtest.Token + "\n\ndata: [DONE]\n\n"
	length := fmt.Sprintf("Content-Type: text/event-stream\r\nContent-Length: %d\r\n", len(body))
	for name, tt := range map[string]struct {
		answer string
		conns  int
	}{
		"chunked":       {stream(body), 1},
		"length":        {"HTTP/1.1 200 OK\r\n" + length + "\r\n" + body, 1},
		"asks to":       {"HTTP/1.1 200 OK\r\nConnection: close\r\n" + length + "\r\n" + body, 3},
		"old":           {"HTTP/1.0 200 OK\r\n" + length + "\r\n" + body, 3},
		"says too much": {"HTTP/1.1 200 OK\r\n" + length + "\r\n" + body + "more", 3},
	} {
		s := newRawServer(t, say(tt.answer))
		o := options(s.url, "completions")
		o.MaxConcurrency, o.ReuseConnections = 1, true
		records, report := runAll(t.Context(), t, o, manyPrompts(3))
		for _, r := range records {
			if r.Failure != nil {
				t.Errorf("%s: %v", name, r.Failure)
			}
		}
		if report.ConnectionsNo != tt.conns {
			t.Errorf("%s: %d connections for 3 requests, want %d", name, report.ConnectionsNo, tt.conns)
		}
	}
}
