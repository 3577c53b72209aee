package wire

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// directTransport is a transport to one URL that opens its connections itself.
func directTransport(t *testing.T, to string, limit time.Duration) *socketTransport {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newSocketTransport(Options{URLs: []*url.URL{u}, Width: 1, ConnectTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.loops.close)
	return tr
}

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestDirectConnections: addresses are connected to without net.Dialer, and names of this
// machine once they are known.
func TestDirectConnections(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		l := listen(t, host+":0")
		_, port, _ := net.SplitHostPort(l.Addr().String())
		tr := directTransport(t, "http://"+host+":"+port, time.Minute)
		dialed := 0
		dial := tr.dial
		tr.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed++
			return dial(ctx, network, address)
		}
		for i := range 3 {
			c, err := tr.open(t.Context(), 0)
			if err != nil {
				t.Fatalf("%s: %v", host, err)
			}
			peer, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			nodelay, err := unix.GetsockoptInt(c.fd, unix.IPPROTO_TCP, unix.TCP_NODELAY)
			if err != nil || nodelay == 0 {
				t.Errorf("%s: connection %d delays small segments (%v)", host, i, err)
			}
			c.Close()
			_ = peer.Close()
		}
		want := 0
		if host == "localhost" {
			want = 1
		}
		if dialed != want || tr.opened.Load() != 3 {
			t.Errorf("%s: %d of %d connections by net.Dialer, want %d of 3", host, dialed, tr.opened.Load(), want)
		}
	}
}

// TestDirectErrors: errors are those of net.Dialer.
func TestDirectErrors(t *testing.T) {
	l := listen(t, "127.0.0.1:0")
	address := l.Addr().String()
	_ = l.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name, address string
		ctx           context.Context
		is            error
		words         string
	}{
		{
			"nobody listens", address, t.Context(), unix.ECONNREFUSED,
			"dial tcp " + address + ": connect: connection refused",
		},
		{
			"no route", "255.255.255.255:1", t.Context(), unix.ENETUNREACH,
			"dial tcp 255.255.255.255:1: connect: network is unreachable",
		},
		{"ended before", address, ended, context.Canceled, "dial tcp " + address},
	} {
		_, err := directTransport(t, "http://"+c.address, time.Minute).open(c.ctx, 0)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", c.name, err, c.words)
		}
	}
}

// fullListener accepts nothing, and its queue is full: further connections stay half open.
func fullListener(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(own.(*unix.SockaddrInet4).Port))
	for range 16 {
		waiting, open, err := connect(addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(waiting) })
		if !open {
			return addr
		}
	}
	t.Skip("the queue of a listener does not fill here")
	return addr
}

// TestDirectWaits: a connection that does not open at once is waited for, up to its limit and
// the end of its request.
func TestDirectWaits(t *testing.T) {
	addr := fullListener(t)
	_, err := directTransport(t, "http://"+addr.String(), 20*time.Millisecond).open(t.Context(), 0)
	if !errors.Is(err, os.ErrDeadlineExceeded) || err.Error() != "dial tcp "+addr.String()+": i/o timeout" {
		t.Errorf("after the limit: %v, want a time-out", err)
	}

	ctx, end := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	time.AfterFunc(20*time.Millisecond, func() { end(given) })
	if _, err = directTransport(t, "http://"+addr.String(), 0).open(ctx, 0); !errors.Is(err, given) {
		t.Errorf("after its request was given up: %v, want %v", err, given)
	}
}

// TestConnectionToItself: of a port on which nobody listens, the kernel may connect a socket
// with itself.
func TestConnectionToItself(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, own); err != nil {
		t.Fatal(err)
	}
	if !isItself(fd, own) {
		t.Error("a socket that is connected with itself is taken for a server")
	}

	client, _ := tcpPair(t)
	other, ok := ownDescriptor(client)
	if !ok {
		t.Fatal("no descriptor")
	}
	defer func() { _ = unix.Close(other) }()
	peer, err := unix.Getpeername(other)
	if err != nil {
		t.Fatal(err)
	}
	if isItself(other, peer) {
		t.Error("a server is taken for the socket itself")
	}
}
