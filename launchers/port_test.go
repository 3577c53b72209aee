package launchers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchrig/internal/fakecontainer"
	"benchrig/internal/fakeengine"
	"benchrig/results"
)

func TestParseListeners(t *testing.T) {
	t.Parallel()
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1444 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 1445 1 0 20 4 30 10 -1
   2: 00000000000000000000000000000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1446 1
   3: 0000000000000000FFFF00000100007F:1F93 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1447 1
   4: nonsense 0 0A
   5: 0100:1F94 0 0A 0 0 0 0 0 1448
`
	want := []string{"127.0.0.1:8080 1444", "[::]:8082 1446", "127.0.0.1:8083 1447"}
	var got []string
	for _, l := range parseListeners(table) {
		got = append(got, l.addr.String()+" "+l.inode)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parseListeners(): (-want +got)\n%s", diff)
	}
}

func FuzzParseListeners(f *testing.F) {
	f.Add("0: 0100007F:1F90 0 0A 0 0 0 0 0 1444\n")
	f.Fuzz(func(t *testing.T, table string) {
		for _, l := range parseListeners(table) {
			if !l.addr.IsValid() || l.inode == "" {
				t.Errorf("parseListeners(%q) has %+v", table, l)
			}
		}
	})
}

func TestListenerAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr, host string
		want       bool
	}{
		{"127.0.0.1", "127.0.0.1", true},
		{"0.0.0.0", "127.0.0.1", true},
		{"::", "127.0.0.1", true},
		{"127.0.0.2", "127.0.0.1", false},
		{"127.0.0.1", "localhost", true},
		{"10.0.0.1", "localhost", false},
		{"::1", "::1", true},
		{"10.0.0.1", "some-name", true},
	} {
		l := listener{addr: netip.AddrPortFrom(netip.MustParseAddr(c.addr), 1)}
		if got := l.answers(c.host); got != c.want {
			t.Errorf("listener on %s answers(%q) = %v, want %v", c.addr, c.host, got, c.want)
		}
	}
}

func TestListenersFindOurSocket(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		socket, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("listen on %s: %v", address, err) // no IPv6 here
			continue
		}
		port := socket.Addr().(*net.TCPAddr).Port
		found := listeners(port)
		if len(found) != 1 || !ownsSocket(os.Getpid(), found[0].inode) {
			t.Errorf("listeners(%d) = %v, want one socket of this process", port, found)
		}
		if text := describeHolder(port); !strings.Contains(text, fmt.Sprintf("pid %d", os.Getpid())) {
			t.Errorf("describeHolder(%d) = %q, want this process", port, text)
		}
		socket.Close()
		// A process that is being forked just now may hold it a moment longer.
		if !awaitPortFree(t.Context(), "localhost", port) {
			t.Errorf("listeners(%d) after close = %v, want none", port, listeners(port))
		}
	}
}

func TestFreePort(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	taken := socket.Addr().(*net.TCPAddr).Port
	avoid := []int{taken + 1, taken + 2}
	port, err := FreePort(t.Context(), "127.0.0.1", taken, avoid)
	if err != nil || port <= taken || slices.Contains(avoid, port) {
		t.Errorf("FreePort(from %d, avoid %v) = %d, %v, want a later one", taken, avoid, port, err)
	}
	if port, err := FreePort(t.Context(), "127.0.0.1", maxPort+1, nil); err == nil {
		t.Errorf("FreePort(from %d) = %d, want an error", maxPort+1, port)
	}
}

// With SO_REUSEPORT, or where our server listens elsewhere, a stranger can
// answer on the port: measuring it would be the worst of mistakes.
func TestForeignListener(t *testing.T) {
	t.Parallel()
	for _, boxed := range []bool{false, true} {
		b := prepare(t, vllm(t), fakeengine.Config{Silent: true})
		if boxed {
			contain(t, b, "docker", fakecontainer.Config{})
		}
		b.refuseStranger(t)
	}
}

// refuseStranger lets somebody else listen on the port after the spawn.
func (b *bench) refuseStranger(t *testing.T) {
	t.Helper()
	stranger := &http.Server{Handler: fakeengine.Handler(fakeengine.Config{Model: "tiny", Paths: fakeengine.VLLM()})}
	served := make(chan struct{})
	b.Journal = func(e results.Event) error {
		if e.Kind == results.LifeSpawned { // the port was checked before
			socket, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", b.spec.Port))
			if err != nil {
				return err
			}
			go func() { defer close(served); _ = stranger.Serve(socket) }()
		}
		return b.journal.write(e)
	}
	failure := b.refuse(t, results.FailForeign)
	_ = stranger.Close()
	<-served
	if who := fmt.Sprintf("pid %d", os.Getpid()); !strings.Contains(failure.Message, who) {
		t.Errorf("failure = %q, want it to name %q", failure.Message, who)
	}
	b.story(t, storyBad)
}
