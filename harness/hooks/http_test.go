package hooks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/scenarios"
)

func TestRunHTTP(t *testing.T) {
	var mu sync.Mutex
	var seen []string // guarded by mu
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mu.Lock()
		seen = append(seen, req.Method+" "+req.URL.Path+" "+req.Header.Get("X-Key")+" "+string(body))
		mu.Unlock()
		switch req.URL.Path {
		case "/ok":
			w.WriteHeader(http.StatusNoContent)
		case "/moved":
			http.Redirect(w, req, "/ok", http.StatusFound)
		case "/hang":
			<-release
		default:
			http.Error(w, "fan is broken", http.StatusBadGateway)
		}
	}))
	defer server.Close()
	defer close(release)
	for _, tc := range []struct {
		path string
		call scenarios.HTTPCall
		ok   bool
		want string
		seen string
	}{
		{
			"/ok",
			scenarios.HTTPCall{
				Method: "PUT", Body: "100",
				Headers: map[string]scenarios.EnvValue{"X-Key": {Value: "k"}},
			},
			true, "answer 204 No Content",
			"PUT /ok k 100",
		},
		{"/bad", scenarios.HTTPCall{}, false, "answer 502 Bad Gateway: fan is broken", "GET /bad  "},
		{"/moved", scenarios.HTTPCall{Method: "GET"}, false, "answer 302 Found", "GET /moved  "},
		{"/hang", scenarios.HTTPCall{Method: "GET"}, false, "no answer within 2s", "GET /hang  "},
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		tc.call.URL = server.URL + tc.path
		limit := time.Minute
		if tc.path == "/hang" {
			limit = 2 * time.Second
		}
		got := newRunner(t).Run(t.Context(), scenarios.Hook{Name: "n", HTTP: tc.call, Timeout: limit}, nil)
		if got.OK != tc.ok || !strings.HasPrefix(got.Message, tc.want) {
			t.Errorf("Run(%s) = %+v, want ok %t and %q", tc.path, got, tc.ok, tc.want)
		}
		mu.Lock()
		sent := slices.Clone(seen)
		mu.Unlock()
		if len(sent) != 1 || sent[0] != tc.seen {
			t.Errorf("Run(%s) sent %q, want %q alone", tc.path, sent, tc.seen)
		}
	}
}

func TestHTTPErrorHidesTheAddress(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	got := newRunner(t).Run(t.Context(), scenarios.Hook{
		HTTP:    scenarios.HTTPCall{URL: server.URL + "/secret-topic"},
		Timeout: time.Second,
	}, nil)
	if got.OK || strings.Contains(got.Message, "secret-topic") || !strings.Contains(got.Message, "refused") {
		t.Errorf("Run(nobody there) = %+v, want a refusal without the address", got)
	}
}
