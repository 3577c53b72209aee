package wire

import (
	"net/url"
	"testing"
)

// The zone of an address means something on this host only, and is not part of the
// Host header.
func TestHostHeader(t *testing.T) {
	for _, tt := range []struct{ url, asked, want string }{
		{"http://host:8000", "", "host:8000"},
		{"http://host", "", "host"},
		{"http://[::1]:8000", "", "[::1]:8000"},
		{"http://[fe80::1%25eth0]:8000", "", "[fe80::1]:8000"},
		{"http://[fe80::1%25eth0]", "", "[fe80::1]"},
		{"http://[fe80::1%25eth0]:8000", "name", "name"},
	} {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostOf(u, tt.asked); got != tt.want {
			t.Errorf("%s, asked for %q: Host %q, want %q", tt.url, tt.asked, got, tt.want)
		}
	}
}
