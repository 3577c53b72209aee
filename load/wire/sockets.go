package wire

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

const (
	// preparedLimit is how long a connection opened in advance may wait for its
	// request; servers close those on which nothing comes.
	preparedLimit = idleLimit
	// preparing is how long opening in advance may take, and preparingWidth how many
	// connections are opened side by side: few enough for any server's backlog.
	preparing      = 2 * time.Second
	preparingWidth = 32
	// With TLS both take longer: a thousand handshakes take most of a second of CPU time,
	// which must not fall into the burst. A connection that the server closes meanwhile
	// is not used.
	securePreparedLimit = 15 * time.Second
	securePreparing     = 10 * time.Second
	firstHead           = 4 << 10 // bytes; room for the head of an answer
)

// socketTransport carries requests over plain TCP or Unix sockets by HTTP/1.1
// of our own, so that the kernel's arrival times are known and an event costs
// one system call.
type socketTransport struct {
	dial    DialFunc
	servers []server
	reuse   bool
	clock   Clock
	stamps  *stamper
	loops   loops
	opened  atomic.Int64
	buffers sync.Pool // of *requestBuffers

	mu   sync.Mutex
	idle [][]*socketConn // by replica: ready for a request, the latest used last
}

// server is one server.
type server struct {
	network, address string
	direct           *direct // nil: connections are opened by dial alone
	constant         []byte  // head of every request, up to what changes
}

// requestBuffers serve one request until its answer's head is in.
type requestBuffers struct {
	out, in []byte
	head    *bufio.Reader
}

// newSocketTransport prepares the requests' heads and opens no connection. It fails
// if the headers or URLs of o cannot be sent.
func newSocketTransport(o Options) (*socketTransport, error) {
	t := &socketTransport{
		dial: o.dialer(), reuse: o.ReuseConnections, idle: make([][]*socketConn, len(o.URLs)),
		loops: loops{streams: o.Width, place: o.Place},
	}
	t.buffers.New = func() any {
		return &requestBuffers{in: make([]byte, firstHead), head: bufio.NewReaderSize(nil, 512)}
	}

	header, host, err := requestHeader(o.ContentType, o.Headers)
	if err != nil {
		return nil, err
	}

	header.Del("X-Request-Id")
	for _, u := range o.URLs {
		s := server{network: "tcp", address: net.JoinHostPort(u.Hostname(), portOf(u))}
		if o.UnixSocket != "" {
			s.network, s.address = "unix", o.UnixSocket
		} else if o.Dial == nil {
			s.direct = &direct{limit: o.ConnectTimeout}
			s.direct.resolve(u.Hostname(), portOf(u))
		}
		if s.constant, err = requestHead(u.RequestURI(), hostOf(u, host), withUser(header, u), t.reuse); err != nil {
			return nil, err
		}
		t.servers = append(t.servers, s)
	}

	return t, nil
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func hostOf(u *url.URL, asked string) string {
	if asked != "" {
		return asked
	}
	host := u.Hostname()
	if name, _, zoned := strings.Cut(host, "%"); zoned { // means something on this host only
		host = name
		if port := u.Port(); port != "" {
			return net.JoinHostPort(host, port)
		}
		return "[" + host + "]"
	}
	return u.Host
}

// withUser adds the user that the URL names, unless the header has credentials.
func withUser(h http.Header, u *url.URL) http.Header {
	if u.User == nil || h.Get("Authorization") != "" {
		return h
	}
	password, _ := u.User.Password()
	h = h.Clone()
	h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	return h
}

func (t *socketTransport) Start(c Clock) {
	t.clock, t.stamps = c, newStamper(c)
}

// Prepare opens n connections, spread over the servers as requests will be. Those
// that are not open in time are left to the requests themselves.
func (t *socketTransport) Prepare(ctx context.Context, n int) {
	inAdvance(ctx, n, preparing, func(ctx context.Context, i int) error {
		replica := i % len(t.servers)
		conn, err := t.open(ctx, replica)
		if err == nil {
			t.put(replica, conn)
		}
		return err
	})
}

func (t *socketTransport) open(ctx context.Context, replica int) (*socketConn, error) {
	s := t.servers[replica]
	if s.direct != nil {
		if addr := s.direct.address.Load(); addr != nil {
			c, err := s.direct.open(ctx, *addr, &t.loops)
			if err == nil {
				t.opened.Add(1)
			}
			return c, err
		}
	}

	conn, err := t.dial(ctx, s.network, s.address)
	if err != nil {
		return nil, err
	}
	if t.opened.Add(1); s.direct != nil {
		s.direct.learn(conn)
	}
	return newSocketConn(conn, &t.loops)
}

func (t *socketTransport) put(replica int, c *socketConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle[replica] = append(t.idle[replica], c)
}

// take returns a connection that is ready, nil if there is none. Those that
// waited too long or that the server closed are dropped.
func (t *socketTransport) take(replica int) *socketConn {
	for {
		t.mu.Lock()
		conns := t.idle[replica]
		if len(conns) == 0 {
			t.mu.Unlock()
			return nil
		}
		c := conns[len(conns)-1]
		t.idle[replica] = conns[:len(conns)-1]
		t.mu.Unlock()
		limit := preparedLimit
		if c.reused {
			limit = idleLimit
		}
		if time.Since(c.made) <= limit && c.silent() {
			return c
		}
		c.Close()
	}
}

// finish keeps the connection for another request if it may, or closes it.
func (t *socketTransport) finish(c *socketConn, replica int, usable bool) {
	whole := c.body.over() && len(c.ahead) == 0 && !c.spoiled && (c.failed == nil || errors.Is(c.failed, io.EOF))
	if !t.reuse || !usable || !whole {
		c.Close()
		return
	}
	c.made, c.reused = time.Now(), true
	c.body, c.ahead, c.failed, c.empty = bodyDecoder{line: c.body.line[:0]}, nil, nil, false
	t.put(replica, c)
}

func (t *socketTransport) Close(r *results.ClientReport) {
	t.mu.Lock()
	for _, conns := range t.idle {
		for _, c := range conns {
			c.Close()
		}
	}
	clear(t.idle)
	t.mu.Unlock()
	t.loops.close()
	r.Transport, r.ConnectionsNo = spec.TransportSockets, int(t.opened.Load())
	t.stamps.describe(r)
	t.loops.describe(r)
	if s := t.loops.starved; s.known {
		r.StarvedMaxS, r.StarvedS = new(s.most.Seconds()), new(s.total.Seconds())
	}
}
