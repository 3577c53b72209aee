package ports

import (
	"net"
	"testing"
)

func TestFindRange(t *testing.T) {
	t.Parallel()
	const n = 5
	first, err := FindRange(t.Context(), "127.0.0.1", 20000, n, nil)
	if err != nil {
		t.Fatal(err)
	}

	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	taken := listener.Addr().(*net.TCPAddr).Port
	second, err := FindRange(t.Context(), "127.0.0.1", taken-2, n, []int{taken + 2})
	if err != nil || second <= taken+2 {
		t.Errorf("FindRange() = %d, %v, want ports above %d", second, err, taken+2)
	}
	if first < 20000 {
		t.Errorf("FindRange() = %d, want at least 20000", first)
	}
	if _, err := FindRange(t.Context(), "127.0.0.1", Max-1, n, nil); err == nil {
		t.Error("FindRange() = nil where there are not so many ports")
	}
}
