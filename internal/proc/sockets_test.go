package proc

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		got = append(got, l.Addr.String()+" "+l.Inode)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parseListeners(): (-want +got)\n%s", diff)
	}
}

func FuzzParseListeners(f *testing.F) {
	f.Add("0: 0100007F:1F90 0 0A 0 0 0 0 0 1444\n")
	f.Fuzz(func(t *testing.T, table string) {
		for _, l := range parseListeners(table) {
			if !l.Addr.IsValid() || l.Inode == "" {
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
		l := Listener{Addr: netip.AddrPortFrom(netip.MustParseAddr(c.addr), 1)}
		if got := l.Answers(c.host); got != c.want {
			t.Errorf("listener on %s Answers(%q) = %v, want %v", c.addr, c.host, got, c.want)
		}
	}
}
