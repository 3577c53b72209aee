package launchers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
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
	for _, address := range []string{"127.0.0.1", "::1"} {
		// Not a port that the kernel gives to clients: one may get it when it is free.
		socket, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(freePort(t))))
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
			t.Errorf("port %d after close: %v, listeners %v", port, portFree(t.Context(), "localhost", port), listeners(port))
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

// Who shares the port of a server that is ready gets a part of its requests.
func TestIntruder(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{Shared: true})
	server := b.launch(t)
	if failure := server.Intruder(t.Context()); failure != nil {
		t.Errorf("Intruder() = %v, want none", failure)
	}
	other := rawSocket(t, b.spec.Port, unix.SO_REUSEPORT)
	if failure := server.Intruder(t.Context()); failure != nil {
		t.Errorf("Intruder() beside a socket that does not listen = %v, want none", failure)
	}
	if err := unix.Listen(other, 1); err != nil {
		t.Fatal(err)
	}
	failure := server.Intruder(t.Context())
	if who := fmt.Sprintf("pid %d", os.Getpid()); failure == nil || failure.Class != results.FailForeign || !strings.Contains(failure.Message, who) {
		t.Errorf("Intruder() = %v, want class %s and %q", failure, results.FailForeign, who)
	}
	_ = unix.Close(other)
}

// rawSocket makes a TCP socket that is bound to the port, with options.
func rawSocket(t *testing.T, port int, options ...int) int {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, option := range options {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// Whatever options a stranger's socket has, listening or not, the port is not
// free. Some engines bind with these long before they listen.
func TestPortIsTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options []int
		listens bool
	}{
		{"bound", nil, false},
		{"bound with SO_REUSEADDR", []int{unix.SO_REUSEADDR}, false},
		{"bound with SO_REUSEPORT", []int{unix.SO_REUSEPORT}, false},
		{"bound with both", []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT}, false},
		{"listens", nil, true},
		{"listens with both", []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT}, true},
	} {
		port := freePort(t)
		fd := rawSocket(t, port, c.options...)
		if c.listens {
			if err := unix.Listen(fd, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, host := range []string{"127.0.0.1", "0.0.0.0", "localhost"} {
			if failure := portFree(t.Context(), host, port); failure == nil || failure.Class != results.FailPortInUse {
				t.Errorf("%s: portFree(%s) = %v, want class %s", c.name, host, failure, results.FailPortInUse)
			}
		}
	}
}

// Connections that a server closed itself linger for a minute; they are no
// reason to refuse its port.
func TestPortWithLingeringConnectionIsFree(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server.Close() // the side that closes first lingers
	_, _ = client.Read(make([]byte, 1))
	client.Close()
	listener.Close()
	if !awaitPortFree(t.Context(), "127.0.0.1", port) {
		t.Errorf("portFree() = %v, want free", portFree(t.Context(), "127.0.0.1", port))
	}
	if !lingering(port) {
		t.Error("lingering() = false, want the closed connection seen")
	}
}

// A listener on another address of this machine is in nobody's way.
func TestConflictIsByAddress(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	other, err := net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", port))
	if err != nil {
		t.Skipf("listen on 127.0.0.2: %v", err)
	}
	defer other.Close()
	if failure := portFree(t.Context(), "127.0.0.1", port); failure != nil {
		t.Errorf("portFree(127.0.0.1) = %v, want free beside 127.0.0.2", failure)
	}
	if failure := portFree(t.Context(), "0.0.0.0", port); failure == nil {
		t.Error("portFree(0.0.0.0) = free, want the listener on 127.0.0.2 in its way")
	}
}
