package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

func TestFailures(t *testing.T) {
	plainJSON := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body)
	}
	status := func(code int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code),
			len(body), body)
	}
	untyped := func(body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	typed := func(media, body string) string {
		return strings.Replace(untyped(body), "Content-L", "Content-Type: "+media+"\r\nContent-L", 1)
	}
	tok := "data: " + loadtest.Token + "\n\n"
	end := "data: " + loadtest.Last + "\n\n"
	tests := []struct {
		name, answer string
		class        results.FailureClass // "": success
		words        string               // part of the message
		status       int
	}{
		{"fine", stream(tok + end + "data: [DONE]\n\n"), "", "", 0},
		{"no end mark but a finish reason", stream(tok + end), "", "", 0},
		{"end mark but no finish reason", stream(tok + "data: [DONE]\n\n"), "", "", 0},
		{"no content type", untyped(tok + end), "", "", 0},
		{"content type with charset", strings.Replace(stream(tok+end), "event-stream", "event-stream; charset=utf-8",
			1), "", "", 0},
		{"events after the end mark", stream(tok + end + "data: [DONE]\n\ndata: {\"error\":1}\n\n"), "", "", 0},
		{"bad identity encoding", strings.Replace(stream(tok+end), "Transfer", "Content-Encoding: identity\r\nTransfer",
			1), "", "", 0},

		{
			"a header without a colon", "HTTP/1.1 200 OK\r\nNoColon\r\n\r\n", results.FailTransport,
			`the answer began: malformed MIME header: missing colon: "NoColon"`, 0,
		},
		{"another version", "HTTP/2 200\r\n\r\n", results.FailProtocol, `server: malformed HTTP version "HTTP/2"`, 0},
		{
			"401", status(401, `{"error":{"message":"Invalid API Key"}}`), results.FailAuth,
			"401 Unauthorized: Invalid API Key", 401,
		},
		{"403", status(403, ``), results.FailAuth, "403 Forbidden", 403},
		{"429 text", status(429, "slow down\n"), results.FailHTTP, "429 Too Many Requests: slow down", 429},
		{
			"503 loading", status(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`),
			results.FailHTTP, "503 Service Unavailable: Loading model (type unavailable_error", 503,
		},
		{
			"long error", status(500, strings.Repeat("x", 5000)), results.FailHTTP,
			strings.Repeat("x", wordsKept) + "...",
			500,
		},
		{
			"redirect", "HTTP/1.1 307 x\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n", results.FailHTTP,
			"307 Temporary Redirect to http://other/ (redirects are not followed)", 307,
		},
		{
			"429 with a time", "HTTP/1.1 429 x\r\nRetry-After: 30\r\nContent-Length: 4\r\n\r\nslow", results.FailHTTP,
			"429 Too Many Requests (Retry-After: 30): slow", 429,
		},
		{"an unknown status", "HTTP/1.1 529 x\r\nContent-Length: 0\r\n\r\n", results.FailHTTP, "529", 529},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", results.FailHTTP, "204 No Content", 204},
		{"205", "HTTP/1.1 205 x\r\nContent-Length: 0\r\n\r\n", results.FailHTTP, "205 Reset Content", 205},
		{"201 with a stream", strings.Replace(stream(tok+end), "200 OK", "201 Created", 1), "", "", 0},
		{"header of 6 MB", strings.Replace(stream(tok+end), "Transfer", strings.Repeat("X: "+strings.Repeat("x", 1000)+
			"\r\n", 6000)+"Transfer", 1), results.FailProtocol, "header of the answer exceeds 1048576 bytes", 0},
		{"one field of 6 MB", strings.Replace(stream(tok+end), "Transfer", "X: "+strings.Repeat("x", 6<<20)+
			"\r\nTransfer", 1), results.FailProtocol, "header of the answer exceeds 1048576 bytes", 0},
		{"header of 800 KB", strings.Replace(stream(tok+end), "Transfer",
			strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 800)+"Transfer", 1), "", "", 0},
		{"HTTP/1.0", strings.Replace(untyped(tok+end), "1.1", "1.0", 1), "", "", 0},
		{"newlines alone", strings.ReplaceAll(untyped(tok+end), "\r\n", "\n"), "", "", 0},

		{
			"error in the stream",
			stream(tok + "data: {\"error\":{\"message\":\"boom\",\"code\":500}}\n\ndata: [DONE]\n\n"),
			results.FailInBand, "boom (code 500)", 0,
		},
		{"error first", stream("data: {\"error\":\"boom\"}\n\n"), results.FailInBand, "boom", 0},
		{"error event", stream(tok + "event: error\ndata: {\"message\":\"boom\"}\n\n"), results.FailInBand, "boom", 0},
		{"error after finish", stream(tok + end + "data: {\"error\":\"boom\"}\n\n"), results.FailInBand, "boom", 0},
		{
			"old llama-server error line", stream(tok + "error: {\"message\":\"boom\"}\n\n"),
			results.FailInBand, "boom", 0,
		},
		{"error in plain JSON", plainJSON(`{"error":{"message":"boom"}}`), results.FailInBand, "boom", 0},

		{
			"not streamed", plainJSON(`{"choices":[{"text":"a"}]}`), results.FailProtocol,
			"answered without streaming", 0,
		},
		{"unframed JSON", untyped(`{"error":{"message":"boom"}}` + "\n"), results.FailInBand, "boom", 0},
		{
			"lines of JSON", untyped("{\"a\":1}\n{\"b\":2}\n"), results.FailProtocol,
			`not an event stream: "{\"a\":1}"`,
			0,
		},
		{
			"html", typed("text/html", "<html>\n</html>\n"), results.FailProtocol,
			"the answer is HTML, not an event stream; check the request path. It begins \"<html>", 0,
		},
		{
			"html with a charset", typed("text/html; charset=utf-8", "\n  <p>hello\n"), results.FailProtocol,
			"the answer is HTML", 0,
		},
		{"html without a type", untyped("\n<!DOCTYPE html>\n<html>"), results.FailProtocol, "the answer is HTML", 0},
		{"empty html", typed("text/html", ""), results.FailProtocol, "the answer is HTML", 0},
		{"a stream called HTML", typed("text/html", tok+end), "", "", 0},
		{"a stream called JSON", typed("application/json", tok+end+"data: [DONE]\n\n"), "", "", 0},
		{"a stream called JSON lines", typed("application/x-ndjson", ": ping\n\n"+tok+end), "", "", 0},
		{
			"an empty answer called JSON", typed("application/json", ""), results.FailProtocol,
			"answered without streaming", 0,
		},
		{
			"the start of a stream called JSON", typed("application/json", "dat"), results.FailProtocol,
			"answered without streaming", 0,
		},
		{"a compressed stream called JSON", strings.Replace(typed("application/json", tok), "Content-L",
			"Content-Encoding: br\r\nContent-L", 1), results.FailProtocol, `Content-Encoding "br"`, 0},
		{
			"garbage event", stream(tok + "data: {not json}\n\n" + end), results.FailProtocol,
			`event data is not JSON: "{not json}"`, 0,
		},
		{
			"single newlines", stream(strings.ReplaceAll(tok+end, "\n\n", "\n") + "\n"), results.FailProtocol,
			"one event holds several JSON values", 0,
		},
		{
			"another API", stream("data: {\"content\":\"a\"}\n\ndata: {\"content\":\"b\"}\n\n"), results.FailProtocol,
			"none of the 2 events", 0,
		},
		{
			"compressed", strings.Replace(stream(tok+end), "Transfer", "Content-Encoding: gzip\r\nTransfer", 1),
			results.FailProtocol, `Content-Encoding "gzip"`, 0,
		},
		{"not HTTP", "SSH-2.0-OpenSSH\r\n", results.FailProtocol, "not an HTTP server", 0},

		{"truncated", stream(tok + tok), results.FailTruncated, "after 2 chunks without finish reason or [DONE]", 0},
		{
			"truncated in an event", stream(tok + "data: {\"choi"), results.FailTruncated,
			`after 1 chunks inside an event: "data: {\"choi"`, 0,
		},
		{
			"end mark without blank line", stream(tok + "data: [DONE]\n"), results.FailTruncated,
			`inside an event: "[DONE]"`, 0,
		},
		{"no body", streamHeader + loadtest.EndFrame, results.FailTruncated, "without a byte", 0},
		{"only comments", stream(": ping\n\n: ping\n\n"), results.FailTruncated, "after 0 chunks", 0},

		{
			"no token", stream("data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
			results.FailNoTokens, `1 chunks, finish reason "stop"`, 0,
		},
		{"end mark only", stream("data: [DONE]\n\n"), results.FailNoTokens, "0 chunks", 0},

		{
			"cut in a chunk", streamHeader + "ff\r\n" + tok, results.FailTransport,
			"connection broken after 1 chunks: the server closed it in the middle of the answer", 0,
		},
		{
			"cut after the finish reason", streamHeader + loadtest.Frame(tok+end), results.FailTransport,
			"after 2 chunks", 0,
		},
		{"cut after the end mark", streamHeader + loadtest.Frame(tok+"data: [DONE]\n\n"), "", "", 0},
		{"cut before the header", "", results.FailTransport, "before the answer began: the server closed it (EOF)", 0},
		{"cut in the header", "HTTP/1.1 200 OK\r\nContent-", results.FailTransport, "before the answer began", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newRawServer(t, func(w io.Writer, r *http.Request, n int) bool {
				return say(tt.answer)(w, r, n) && false
			})
			o := options(s.url, "completions")
			o.Timeouts.Total = 10 * time.Second
			r := one(t, o)
			if tt.class == "" {
				if r.Failure != nil {
					t.Errorf("failed: %v", r.Failure)
				}
				return
			}
			if r.Failure == nil || r.Failure.Class != tt.class || !strings.Contains(r.Failure.Message, tt.words) ||
				r.Failure.HTTPStatus != tt.status {
				t.Fatalf("failure %+v, want class %s, status %d, message with %q", r.Failure, tt.class,
					tt.status, tt.words)
			}
			if s.requests() != 1 {
				t.Errorf("the server got %d requests, want 1", s.requests())
			}
			if r.SentS == nil || r.EndS < *r.SentS {
				t.Errorf("sent %v, end %v", r.SentS, r.EndS)
			}
		})
	}
}

// TestStaleConnectionIsNotRetried: the server closes a connection while the
// next request is on its way; the request fails and is sent only once.
func TestStaleConnectionIsNotRetried(t *testing.T) {
	good := stream("data: " + loadtest.Token + "\n\ndata: [DONE]\n\n")
	s := newRawServer(t, func(w io.Writer, _ *http.Request, n int) bool {
		if n == 1 {
			return false // takes the request, answers nothing
		}
		_, err := io.WriteString(w, good)
		return err == nil
	})
	o := options(s.url, "completions")
	o.MaxConcurrency, o.ReuseConnections = 1, true
	records, report := runAll(t.Context(), t, o, manyPrompts(3))
	byIndex(records)
	f := records[1].Failure
	if f == nil || f.Class != results.FailTransport || !strings.Contains(f.Message, "it had been used before") {
		t.Errorf("failure of request 1: %v, want class transport with a hint at the reused connection", f)
	}
	if records[0].Failure != nil || records[2].Failure != nil || s.requests() != 3 || report.ConnectionsNo != 2 {
		t.Errorf("%d requests reached the server over %d connections, want 3 over 2; failures %v, %v", s.requests(),
			report.ConnectionsNo, records[0].Failure, records[2].Failure)
	}
}

func TestConnectFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	https := httptest.NewUnstartedServer(http.NotFoundHandler())
	https.Config.ErrorLog = log.New(io.Discard, "", 0)
	https.StartTLS()
	defer https.Close()
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts, never speaks TLS
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	tests := []struct {
		name, url, words string
		limit            time.Duration
	}{
		{"refused", "http://" + closed, "connection refused", time.Minute},
		{"unknown certificate", https.URL, "certificate", time.Minute},
		{"plain HTTP server", "https://" + strings.TrimPrefix(plain.URL, "http://"), "use http://", time.Minute},
		{"silent handshake", "https://" + deaf.Addr().String(), "timeout", 100 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(tt.url, "completions")
			o.Timeouts.Connect = tt.limit
			r := one(t, o)
			if r.Failure == nil || r.Failure.Class != results.FailConnect || r.Failure.Message == "" ||
				!strings.Contains(r.Failure.Message, tt.words) {
				t.Errorf("failure %v, want class connect with %q", r.Failure, tt.words)
			}
			if r.SentS != nil || r.HeaderS != nil {
				t.Errorf("sent %v, header %v, want neither", r.SentS, r.HeaderS)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("request by %s, want HTTP/1.1", r.Proto)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", loadtest.Token)
	}))
	defer s.Close()
	o := options(s.URL, "completions")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	o.Target.TLS = &tls.Config{RootCAs: roots}
	if r := one(t, o); r.Failure != nil || r.ChunkKinds != "t" {
		t.Errorf("failure %v, kinds %q", r.Failure, r.ChunkKinds)
	}
}

// TestCancelIsPrompt: real connections in every stage end at once.
func TestCancelIsPrompt(t *testing.T) {
	hang := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var asked atomic.Int64
	s := newRawServer(t, func(w io.Writer, _ *http.Request, n int) bool {
		if n%2 == 0 {
			if _, err := io.WriteString(w, streamHeader+loadtest.Event(loadtest.Token)); err != nil {
				return false
			}
		}
		if asked.Add(1) == 8 {
			cancel(errors.New("enough"))
		}
		<-hang
		return false
	})
	defer close(hang)
	o := options(s.url, "completions")
	o.MaxConcurrency = 8
	records, report := runAll(ctx, t, o, manyPrompts(50)) // for ever, if a request did not end
	if len(records) != 8 || report.Interrupted == "" || report.PeakInFlight != 8 {
		t.Errorf("%d records, report %+v, want 8 records and an interruption", len(records), report)
	}
	for _, r := range records {
		if r.Failure == nil || r.Failure.Class != results.FailCanceled || r.Failure.Message == "" {
			t.Errorf("request %d: %v, want canceled", r.Index, r.Failure)
		}
	}
}
