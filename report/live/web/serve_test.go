package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

func TestTokenFor(t *testing.T) {
	for _, test := range []struct {
		host, given string
		ok, token   bool
	}{
		{"127.0.0.1", "", true, false},
		{"::1", "", true, false},
		{"localhost", "", true, false},
		{"127.0.0.1", "new", true, true},
		{"0.0.0.0", "", false, false},
		{"", "", false, false},
		{"192.0.2.1", "", false, false},
		{"box", "new", true, true},
		{"0.0.0.0", "0123456789abcdef", true, true},
		{"0.0.0.0", "short", false, false},
		{"0.0.0.0", "0123456789abcdef&x", false, false},
	} {
		token, err := tokenFor(test.host, test.given)
		if (err == nil) != test.ok || (token != "") != test.token {
			t.Errorf("tokenFor(%q, %q) = %q, %v, want ok %t, a token %t", test.host, test.given, token, err, test.ok,
				test.token)
		}
	}
}

// syncBuffer is a buffer that is written and read at once.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// The page is served at the printed address until its user ends it.
func TestServe(t *testing.T) {
	folder, err := store.Create(t.TempDir(), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.WriteManifest(results.Manifest{Scenario: "s", Run: "r"}); err != nil {
		t.Fatal(err)
	}
	follower, err := live.Follow(folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out syncBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, &out, "127.0.0.1:0", "", follower)
	}()
	var address string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if _, rest, ok := strings.Cut(out.String(), " at "); ok {
			address, _, _ = strings.Cut(rest, " ")
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	client := &http.Client{Timeout: 10 * time.Second}
	for path, want := range map[string]string{"": "<h1>s", "metrics": "bench_run_running{"} {
		r, err := client.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s%s: status %d, %v, want 200 with %q", address, path, r.StatusCode, err, want)
		}
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve() = %v", err)
	}
}
