package wire

import (
	"encoding/binary"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/load/wire/sse"
)

// stampedConn is a connection of net/http whose reads the kernel stamps. Each TLS
// record is read by itself, so that it has a stamp of its own: that of its last
// byte, before which it cannot be decrypted. Left alone, Go's TLS reads beyond a
// record, which would then share the stamp of a later one.
type stampedConn struct {
	net.Conn

	raw    syscall.RawConn
	recv   receiver
	stamps *stamper // nil until the pass begins

	head    [recordHead]byte // of the record, or of a plain answer
	got     int              // bytes of head
	left    int              // bytes of the record to come
	plain   bool             // no TLS
	at      time.Duration    // of the latest read
	arrival Arrival          // of the same
	waiting waiting
	same    sameStamp
	emptied time.Duration // when nothing was left to read
}

// recordHead is the length of what precedes each TLS record, and of "HTTP/".
const recordHead = 5

// stampConn makes the kernel stamp what arrives on conn. A conn without a descriptor
// is returned as it is.
func (t *httpTransport) stampConn(conn net.Conn) net.Conn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return conn
	}
	_ = raw.Control(func(fd uintptr) { askForArrivals(int(fd)) })
	return &stampedConn{Conn: conn, raw: raw, stamps: t.stamps}
}

// Read reads the rest of a record at most.
func (c *stampedConn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !c.plain {
		p = p[:min(len(p), c.unread())]
	}

	var wall int64
	failed := c.raw.Read(func(fd uintptr) bool {
		n, wall, err = c.recv.receive(int(fd), p)
		if errors.Is(err, sse.ErrWouldBlock) {
			c.emptied = c.now()
			return false
		}
		return true
	})
	if failed != nil {
		return 0, failed
	}
	if n > 0 {
		c.note(p[:n], wall)
	}
	return n, err
}

// unread returns how many bytes complete the head, or the record.
func (c *stampedConn) unread() int {
	if c.got < recordHead {
		return recordHead - c.got
	}
	return c.left
}

// note stamps what was read and follows where the record ends.
func (c *stampedConn) note(b []byte, wall int64) {
	c.waiting.read(len(b), c.recv.left)
	if c.stamps != nil {
		at, exact := c.stamps.stamp(wall)
		at = c.same.unify(at, wall, exact)
		c.at, c.arrival = at, Arrival{
			NotBefore: min(c.emptied, at), Exact: exact, Known: true, Left: c.waiting.left > 0, Grew: c.waiting.grew,
		}
	}

	switch {
	case c.plain:
	case c.got < recordHead:
		c.got += copy(c.head[c.got:], b)
		c.plain = c.got == recordHead && string(c.head[:]) == "HTTP/"
		c.left = int(binary.BigEndian.Uint16(c.head[3:]))
	default:
		c.left -= len(b)
	}
	if !c.plain && c.got == recordHead && c.left == 0 {
		c.got = 0
	}
}

// ended reports whether the other side is known to have closed the connection, even if
// bytes are still to be read.
func (c *stampedConn) ended() bool {
	const established = 1 // TCP_ESTABLISHED
	if c == nil {
		return false
	}
	ended := false
	_ = c.raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		ended = err == nil && info.State != established
	})
	return ended
}

func (c *stampedConn) now() time.Duration {
	if c.stamps == nil {
		return 0
	}
	return c.stamps.clock.Now()
}

// underneath returns the stampedConn below a connection of net/http; nil: there is none.
func underneath(conn net.Conn) *stampedConn {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*stampedConn)
	return c
}

// stampingBody stamps each read of an answer's body by that of the connection
// below it, and without one as soon as it returns.
type stampingBody struct {
	body  interface{ Read(p []byte) (int, error) }
	clock Clock
	conn  *stampedConn // nil: none
}

func (b *stampingBody) ReadStamped(p []byte) (int, time.Duration, error) {
	n, err := b.body.Read(p)
	if b.conn == nil || !b.conn.arrival.Known || err != nil && n == 0 {
		return n, b.clock.Now(), err
	}
	return n, b.conn.at, err
}

// Arrival implements Arrivals.
func (b *stampingBody) Arrival() Arrival {
	if b.conn == nil {
		return Arrival{}
	}
	return b.conn.arrival
}
