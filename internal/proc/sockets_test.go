package proc

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSockets(t *testing.T) {
	t.Parallel()
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1444 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 1445 1 0 20 4 30 10 -1
   2: 00000000000000000000000000000000:1F92 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1446 1
   3: 0000000000000000FFFF00000100007F:1F93 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1447 1
   4: nonsense 0 0A
   5: 0100:1F94 0 0A 0 0 0 0 0 1448
`
	want := []string{"127.0.0.1:8080 1444 10", "127.0.0.1:8081 1445 1", "[::]:8082 1446 10", "127.0.0.1:8083 1447 10"}
	var got []string
	for _, s := range parseSockets(table) {
		got = append(got, fmt.Sprint(s.Addr, " ", s.Inode, " ", s.state))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parseSockets(): (-want +got)\n%s", diff)
	}
}

// The kernel says by netlink what its tables say, of sockets that listen, serve and linger.
func TestDiagSockets(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("listen on %s: %v", address, err) // no IPv6 here
			continue
		}
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		server.Close() // the side that closes first lingers

		shown := func(sockets []socket) []string {
			var out []string
			for _, s := range sockets {
				out = append(out, fmt.Sprint(s.Addr, " ", s.Inode, " ", s.state))
			}
			slices.Sort(out)
			return out
		}
		for _, states := range [][]int{{listening}, closing} {
			got, err := diagSockets(port, states)
			if err != nil {
				t.Skipf("the kernel lists no sockets by netlink: %v", err)
			}
			want := FS("/proc/self/../").sockets(port, states) // another name: read from the tables
			if diff := cmp.Diff(shown(want), shown(got)); diff != "" || len(want) == 0 {
				t.Errorf("sockets of %s in states %v (-tables +netlink), %d in the tables:\n%s", address, states, len(want),
					diff)
			}
		}
	}
}

func FuzzParseSockets(f *testing.F) {
	f.Add("0: 0100007F:1F90 0 0A 0 0 0 0 0 1444\n")
	f.Fuzz(func(t *testing.T, table string) {
		for _, s := range parseSockets(table) {
			if !s.Addr.IsValid() || s.Inode == "" {
				t.Errorf("parseSockets(%q) has %+v", table, s)
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
		l := Listener{Addr: netip.AddrPortFrom(netip.MustParseAddr(c.addr), 1)}
		if got := l.Answers(c.host); got != c.want {
			t.Errorf("listener on %s Answers(%q) = %v, want %v", c.addr, c.host, got, c.want)
		}
	}
}
