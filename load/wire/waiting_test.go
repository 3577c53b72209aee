package wire

import (
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
)

// TestWhatAReadLeaves: each read says whether bytes were left, and whether more came since
// the one before, by the kernel's count.
func TestWhatAReadLeaves(t *testing.T) {
	loadtest.OnSockets(t)
	client, server := tcpPair(t)
	l, err := newLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	fd, ok := ownDescriptor(client)
	if !ok {
		t.Fatal("no descriptor")
	}
	c := &socketConn{fd: fd, stamps: newStamper(StartClock())}
	if err := l.join(c); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.beginArrivals(time.Now())
	c.due, c.gap = time.Now().Add(time.Hour), time.Hour // nothing is cut by itself

	write := func(text string, waits int) {
		t.Helper()
		if _, err := server.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		for deadline := time.Now().Add(time.Minute); ; {
			if n, _ := l.recv.peek(fd, buf); n == waits {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes do not wait", waits)
			}
		}
	}
	read := func(n int, left bool, grew int) {
		t.Helper()
		if got, _, err := l.receive(c, make([]byte, n)); got == 0 || err != nil {
			t.Fatalf("read %d bytes, %v", got, err)
		}
		if a := c.Arrival(); a.Left != left || a.Grew != grew {
			t.Errorf("left %v, grew %d, want %v, %d", a.Left, a.Grew, left, grew)
		}
	}

	write("aabbcc", 6)
	read(2, true, 1)
	read(2, true, 1)
	write("dd", 4)
	read(2, true, 2)
	read(2, false, 2)
	write("ee", 2)
	read(9, false, 3)
}
