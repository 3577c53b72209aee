//go:build linux

package loadtest

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// WithStamps returns once the kernel stamps what arrives on this machine, and keeps
// it so until the test ends: it begins to some time after the first socket of the
// machine asks for it, and stops with the last one.
func WithStamps(t testing.TB) {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1) })

	var data [1]byte
	control := make([]byte, 128)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := conn.WriteTo(data[:], conn.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		arrived := time.Now()
		_, n, _, _, err := conn.ReadMsgUDP(data[:], control)
		if err != nil {
			t.Fatal(err)
		}
		// What is not stamped as it arrives is stamped as it is read.
		if at, ok := stampOf(control[:n]); ok && at.Before(arrived) {
			return
		}
	}
	t.Skip("the kernel stamps nothing here")
}

func stampOf(control []byte) (time.Time, bool) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Time{}, false
	}
	for _, m := range messages {
		if m.Header.Type == unix.SO_TIMESTAMPNS_NEW && len(m.Data) >= 16 {
			seconds, nanoseconds := binary.NativeEndian.Uint64(m.Data), binary.NativeEndian.Uint64(m.Data[8:])
			return time.Unix(int64(seconds), int64(nanoseconds)), true //nolint:gosec // the kernel's time
		}
	}
	return time.Time{}, false
}
