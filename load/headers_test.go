package load

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
)

// TestCredentialsOfTheURL: a user that the URL names goes out by either
// transport, unless a header says who asks.
func TestCredentialsOfTheURL(t *testing.T) {
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		s := newRawServer(t, say(stream("data: "+loadtest.Token+"\n\ndata: [DONE]\n\n")))
		url := strings.Replace(s.url, "http://", "http://me:pass%20word@", 1)
		for i, headers := range []map[string]string{nil, {"authorization": "Bearer k"}} {
			o := options(url, "completions")
			o.Transport, o.Target.Headers = transport, headers
			if r := one(t, o); r.Failure != nil {
				t.Fatalf("%s: %v", transport, r.Failure)
			}
			want := []string{"Basic bWU6cGFzcyB3b3Jk", "Bearer k"}[i]
			s.mu.Lock()
			got := s.hdr[len(s.hdr)-1].Values("Authorization")
			s.mu.Unlock()
			if len(got) != 1 || got[0] != want {
				t.Errorf("%s: Authorization %q, want %q", transport, got, want)
			}
		}
	}
}

// TestHeadersRefused: both transports refuse the same headers, before anything
// is sent.
func TestHeadersRefused(t *testing.T) {
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		for _, tt := range []struct {
			headers map[string]string
			want    string
		}{
			{map[string]string{"Content-length": "3"}, "frames the message"},
			{map[string]string{"Transfer-Encoding": "chunked"}, "frames the message"},
			{map[string]string{"X": "1", "x": "2"}, "given twice"},
			{map[string]string{"X": "1\r\nY: 2"}, "line break"},
		} {
			o := options("http://127.0.0.1:1", "completions")
			o.Transport, o.Target.Headers = transport, tt.headers
			if _, err := Run(t.Context(), o, manyPrompts(1), nil); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: headers %v: %v, want %q", transport, tt.headers, err, tt.want)
			}
		}
	}
}
