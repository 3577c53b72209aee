package wire

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/internal/loadtest"
)

// TestServerThatSpeaksFirst: a connection is complete before a loop may see what
// comes on it, even if the server sends or closes at once.
func TestServerThatSpeaksFirst(t *testing.T) {
	loadtest.OnSockets(t)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("x"))
			_ = conn.Close()
		}
	}()

	var ls loops
	defer ls.close()
	for range 200 {
		client, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := newSocketConn(client, &ls)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}
