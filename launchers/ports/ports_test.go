package ports

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

func TestListenersFindOurSocket(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1", "::1"} {
		// Not a port that the kernel gives to clients: one may get it when it is free.
		socket, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(freeport.Take(t, 1))))
		if err != nil {
			t.Logf("listen on %s: %v", address, err) // no IPv6 here
			continue
		}
		port := socket.Addr().(*net.TCPAddr).Port
		found := proc.System.Listeners(port)
		if len(found) != 1 || !proc.System.OwnsSocket(os.Getpid(), found[0].Inode) {
			t.Errorf("Listeners(%d) = %v, want one socket of this process", port, found)
		}
		if text := Holder(port); !strings.Contains(text, fmt.Sprintf("pid %d", os.Getpid())) {
			t.Errorf("Holder(%d) = %q, want this process", port, text)
		}
		socket.Close()
		// A process that is being forked just now may hold it a moment longer.
		if !AwaitFree(t.Context(), "localhost", port) {
			t.Errorf("port %d after close: %v, listeners %v", port, Check(t.Context(), "localhost", port),
				proc.System.Listeners(port))
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	taken := socket.Addr().(*net.TCPAddr).Port
	avoid := []int{taken + 1, taken + 2}
	port, err := Find(t.Context(), "127.0.0.1", taken, avoid)
	if err != nil || port <= taken || slices.Contains(avoid, port) {
		t.Errorf("Find(from %d, avoid %v) = %d, %v, want a later one", taken, avoid, port, err)
	}
	if port, err := Find(t.Context(), "127.0.0.1", Max+1, nil); err == nil {
		t.Errorf("Find(from %d) = %d, want an error", Max+1, port)
	}
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
		port := freeport.Take(t, 1)
		fd := rawSocket(t, port, c.options...)
		if c.listens {
			if err := unix.Listen(fd, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, host := range []string{"127.0.0.1", "0.0.0.0", "localhost"} {
			if failure := Check(t.Context(), host, port); failure == nil || failure.Class != results.FailPortInUse {
				t.Errorf("%s: Check(%s) = %v, want class %s", c.name, host, failure, results.FailPortInUse)
			}
		}
	}
}

// Connections that a server closed itself linger for a minute; they are no
// reason to refuse its port.
func TestPortWithLingeringConnectionIsFree(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freeport.Take(t, 1)))
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
	if !AwaitFree(t.Context(), "127.0.0.1", port) {
		t.Errorf("Check() = %v, want free", Check(t.Context(), "127.0.0.1", port))
	}
	if !proc.System.Lingering(port) {
		t.Error("proc.System.Lingering() = false, want the closed connection seen")
	}
}

// A listener on another address of this machine is in nobody's way.
func TestConflictIsByAddress(t *testing.T) {
	t.Parallel()
	port := freeport.Take(t, 1)
	other, err := net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", port))
	if err != nil {
		t.Skipf("listen on 127.0.0.2: %v", err)
	}
	defer other.Close()
	if failure := Check(t.Context(), "127.0.0.1", port); failure != nil {
		t.Errorf("Check(127.0.0.1) = %v, want free beside 127.0.0.2", failure)
	}
	if failure := Check(t.Context(), "0.0.0.0", port); failure == nil {
		t.Error("Check(0.0.0.0) = free, want the listener on 127.0.0.2 in its way")
	}
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
