package wire

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

// TestPreparedForHTTP: connections are opened, and encrypted, before the clock starts; the requests
// use them, and their reads have the kernel's stamps.
func TestPreparedForHTTP(t *testing.T) {
	loadtest.WithStamps(t)
	for _, secure := range []bool{false, true} {
		var opened atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("x"))
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		start := server.Start
		if secure {
			start = server.StartTLS
		}
		start()
		defer server.Close()

		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		transport, err := newHTTPTransport(Options{
			URLs: []*url.URL{u}, ConnectTimeout: time.Minute,
			TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // a test's server
		})
		if err != nil {
			t.Fatal(err)
		}
		defer transport.rt.CloseIdleConnections()
		transport.Prepare(t.Context(), 3)
		if n := len(transport.ready.conns[u.Host]); n != 3 || transport.opened.Load() != 3 {
			t.Fatalf("secure %v: %d connections are ready, %d were opened, want 3", secure, n, transport.opened.Load())
		}

		transport.Start(StartClock())
		for range 2 {
			r := &oneReader{}
			err := transport.Stage(t.Context(), Request{ID: "1"}, r).Wait()
			if err != nil || r.text != "x" || !r.exact {
				t.Errorf("secure %v: answer %q, %v, of the kernel's stamp %v", secure, r.text, err, r.exact)
			}
		}
		if n := opened.Load(); n != 3 {
			t.Errorf("secure %v: %d connections were opened, want the 3 that were prepared", secure, n)
		}

		server.CloseClientConnections()
		last := underneath(transport.ready.conns[u.Host][0].Conn)
		for deadline := time.Now().Add(time.Minute); !last.ended() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if transport.ready.take(u.Host) != nil {
			t.Errorf("secure %v: a connection that the server closed is used", secure)
		}
	}
}

// oneReader reads an answer whole.
type oneReader struct {
	reply *Reply
	text  string
	exact bool
}

func (r *oneReader) Begin(rep *Reply) { r.reply = rep }

func (r *oneReader) Step() bool {
	var p [16]byte
	n, _, err := r.reply.Body.ReadStamped(p[:])
	r.text += string(p[:n])
	if a, ok := r.reply.Body.(Arrivals); ok {
		r.exact = a.Arrival().Exact
	}
	return err == io.EOF //nolint:errorlint // as body readers return it
}

// TestPreparedConnections: the first wave's connections are there before the
// clock starts, and one that the server closed meanwhile is replaced.
func TestPreparedConnections(t *testing.T) {
	loadtest.OnSockets(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := url.Parse("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	transport, err := newSocketTransport(Options{URLs: []*url.URL{u}, Width: 3})
	if err != nil {
		t.Fatal(err)
	}
	transport.Prepare(t.Context(), 3)
	for range 2 {
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	gone, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	transport.Start(StartClock())
	var usable int
	for deadline := time.Now().Add(time.Minute); ; {
		transport.mu.Lock()
		usable = 0
		for _, c := range transport.idle[0] {
			if c.silent() {
				usable++
			}
		}
		transport.mu.Unlock()
		if usable == 2 || time.Now().After(deadline) {
			break
		}
	}
	taken := 0
	for c := transport.take(0); c != nil; c = transport.take(0) {
		taken++
		c.Close()
	}
	var r results.ClientReport
	transport.Close(&r)
	if usable != 2 || taken != 2 || r.ConnectionsNo != 3 {
		t.Errorf("%d usable, %d taken of %d connections, want 2, 2 of 3", usable, taken, r.ConnectionsNo)
	}
}
