package wire

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
)

// stampedPair is a connection whose reads are stamped, and its server's end.
func stampedPair(t *testing.T) (c *stampedConn, server net.Conn) {
	t.Helper()
	client, server := tcpPair(t)
	transport := &httpTransport{stamps: newStamper(StartClock())}
	c, ok := transport.stampConn(client).(*stampedConn)
	if !ok {
		t.Fatal("a TCP connection is not stamped")
	}
	return c, server
}

// record is a TLS record as far as its head tells.
func record(body string) []byte {
	return append([]byte{0x17, 3, 3, byte(len(body) >> 8), byte(len(body))}, body...)
}

// TestStampedConnReadsRecordsAlone: however much is there, a read takes no more
// than a record, so that each has the stamp of its own last byte.
func TestStampedConnReadsRecordsAlone(t *testing.T) {
	loadtest.OnSockets(t)
	c, server := stampedPair(t)
	bodies := []string{"first", "second record", "", "x"}
	var want []byte
	for _, body := range bodies {
		want = append(want, record(body)...)
		if _, err := server.Write(record(body)); err != nil {
			t.Fatal(err)
		}
	}
	server.Close()

	var got []byte
	var sizes []int
	buf := make([]byte, 512)
	for {
		n, err := c.Read(buf)
		got, sizes = append(got, buf[:n]...), append(sizes, n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !c.arrival.Known || c.at <= 0 || c.arrival.NotBefore > c.at {
			t.Errorf("a read of %d bytes at %v: %+v", n, c.at, c.arrival)
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	for _, n := range sizes {
		if n > len("second record") {
			t.Errorf("a read of %d bytes holds more than a record: %v", n, sizes)
		}
	}
}

// TestStampedConnKeepsPlainAnswersWhole: an answer without TLS is read as it comes.
func TestStampedConnKeepsPlainAnswersWhole(t *testing.T) {
	loadtest.OnSockets(t)
	c, server := stampedPair(t)
	const text = "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n"
	if _, err := io.WriteString(server, text); err != nil {
		t.Fatal(err)
	}
	server.Close()
	got, err := io.ReadAll(c)
	if err != nil || string(got) != text || !c.plain {
		t.Errorf("read %q, %v, plain %v", got, err, c.plain)
	}
}

// keeper keeps what it reads of an answer, and how each read was stamped.
type keeper struct {
	rep    *Reply
	text   []byte
	stamps []time.Duration
	known  []Arrival
}

func (k *keeper) Begin(rep *Reply) { k.rep = rep }

func (k *keeper) Step() bool {
	buf := make([]byte, 4096)
	n, at, err := k.rep.Body.ReadStamped(buf)
	if n > 0 {
		k.text, k.stamps = append(k.text, buf[:n]...), append(k.stamps, at)
		if a, ok := k.rep.Body.(Arrivals); ok {
			k.known = append(k.known, a.Arrival())
		}
	}
	return err != nil
}

// TestHTTPSIsStamped: answers over TLS have the kernel's stamps, whatever the client
// does between two of its reads.
func TestHTTPSIsStamped(t *testing.T) {
	loadtest.OnSockets(t)
	loadtest.WithStamps(t)
	const pieces = 4
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for range pieces {
			_, _ = io.WriteString(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer server.Close()

	transport, err := newHTTPTransport(Options{
		URLs: urlsOf(t, server.URL), TLS: &tls.Config{RootCAs: rootsOf(server), MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		t.Fatal(err)
	}
	transport.Start(StartClock())
	k := &keeper{}
	out := transport.Stage(t.Context(), Request{Body: []byte("{}")}, k)
	out.Write()
	if err := out.Wait(); err != nil {
		t.Fatal(err)
	}

	if out.Written() <= 0 || len(k.stamps) == 0 || k.stamps[0] <= 0 || len(k.known) != len(k.stamps) {
		t.Errorf("written at %v, stamps %v, known %v", out.Written(), k.stamps, k.known)
	}
	for i, a := range k.known {
		if !a.Exact || !a.Known || a.NotBefore > k.stamps[i] {
			t.Errorf("read %d at %v: %+v, want a stamp of the kernel", i, k.stamps[i], a)
		}
	}
	if want := bytes.Repeat([]byte("data: x\n\n"), pieces); !bytes.Equal(k.text, want) {
		t.Errorf("read %q, want %q", k.text, want)
	}
}
