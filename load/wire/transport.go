// Package wire carries requests to servers and gives their answers' bytes with
// the time at which they arrived.
//
// What goes in: URLs, headers and the bytes of request bodies. What comes out:
// heads of answers, and bodies read as they come, each read stamped by the
// kernel where it can (package sse cuts them into events). It knows no API, plans
// nothing, and never sends a request twice.
//
// The time of a token is that at which the kernel received its segment, not that at
// which bench came to read it: on a busy machine the two lie milliseconds apart. Two
// things stand in the way. What waits in a socket when it is read has only the stamp
// of its last segment, so that streams that are read late are read event by event
// (cuts). And the stamps are of the wall clock, so that each is turned into its age
// at the read (stamper). Where that fails, Arrival bounds the time from below.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/internal/cpus"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

// idleLimit is how long, with ReuseConnections, an unused connection is kept: shorter than the 5 s
// after which uvicorn and llama-server close theirs, so that no request is
// sent on a connection that the server is closing.
const idleLimit = 3 * time.Second

// Transport carries requests to the servers. It never sends one twice.
type Transport interface {
	// Stage makes one request ready to be sent; to reads its answer.
	Stage(ctx context.Context, r Request, to AnswerReader) Outgoing
	// Prepare opens connections for n requests that are to be sent at once. It is
	// called before Start.
	Prepare(ctx context.Context, n int)
	// Start gives the clock to stamp by. It is called before the first request is
	// sent.
	Start(c Clock)
	// Close closes idle connections and reports on the pass: connections opened, and
	// where its times come from.
	Close(r *results.ClientReport)
}

// Outgoing is one request that is ready.
type Outgoing interface {
	// Write sends the request as far as that needs no waiting; Wait sends the rest.
	Write()
	// Wait returns once the answer was read. An error, of type *SendError, means that
	// no answer began.
	Wait() error
	// Drop gives the request up. It is called in place of Write and Wait.
	Drop()
	// Written returns when the kernel had the last byte of the request; 0: not known.
	// It is called after Wait.
	Written() time.Duration
}

// Request is one request as it goes out.
type Request struct {
	Replica int
	ID      string // for X-Request-Id
	Body    []byte
}

// Reply is an answer whose body is still to be read.
type Reply struct {
	Status   int
	Header   http.Header
	HeaderAt time.Duration
	Body     sse.StampedReader
	Reused   bool         // the connection had carried a request before
	Scratch  *sse.Scratch // for use within Step; nil: none
}

// AnswerReader reads one answer. Begin is called once its header is in, then Step
// until it returns true: each time bytes have come over sockets, in a loop over
// net/http, whose reads wait for them.
type AnswerReader interface {
	Begin(rep *Reply)
	Step() bool
}

// SendError says how far a request came that got no answer.
type SendError struct {
	Connected bool // false: there was no connection to send it on
	Reused    bool
	Err       error
}

func (e *SendError) Error() string { return e.Err.Error() }

// DialFunc opens connections, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// httpTransport carries requests by net/http: HTTP/1.1, no proxy, no
// compression, no redirects.
type httpTransport struct {
	rt     *http.Transport
	urls   []*url.URL
	header http.Header
	host   string // Host header; "": the URL's
	clock  Clock
	stamps *stamper // nil until Start
	opened atomic.Int64
	place  Place

	dial       DialFunc
	unixSocket string        // "": TCP
	tls        *tls.Config   // nil: the system's roots
	handshake  time.Duration // limit of one; 0: none
	ready      prepared
}

// Options say how to reach the servers.
type Options struct {
	URLs             []*url.URL        // one per replica
	ContentType      string            // of request bodies; "": JSON
	Headers          map[string]string // of every request
	UnixSocket       string            // "": TCP
	TLS              *tls.Config       // nil: the system's roots
	Transport        string            // TransportSockets or TransportHTTP; "": sockets for http, net/http for https
	ReuseConnections bool
	ConnectTimeout   time.Duration // for TCP, and again for the TLS handshake; 0: none
	Width            int           // requests that may be in flight at once
	Dial             DialFunc      // nil: the network
	Place            Place         // of the threads that read; zero: wherever this program runs
}

// Place is where the threads that read run: each on one of the CPUs, in turn.
type Place struct {
	CPUs []int // none: any
	Nice int   // 0: as this program
}

// describe reports the place, and returns whether there is one.
func (p Place) describe(r *results.ClientReport) bool {
	if len(p.CPUs) == 0 && p.Nice == 0 {
		return false
	}
	r.PinnedCPUs, r.Nice = cpus.Set(p.CPUs).String(), p.Nice
	return true
}

func (o Options) dialer() DialFunc {
	if o.Dial != nil {
		return o.Dial
	}
	return (&net.Dialer{Timeout: o.ConnectTimeout}).DialContext
}

// New chooses the transport for the URLs.
func New(o Options) (Transport, error) {
	secure := slices.ContainsFunc(o.URLs, func(u *url.URL) bool { return u.Scheme == "https" })
	switch o.Transport {
	case "", spec.TransportSockets:
		if !secure {
			return newSocketTransport(o)
		}
		if o.Transport == spec.TransportSockets {
			return nil, fmt.Errorf("choose transport: %q carries no https; use %q", spec.TransportSockets,
				spec.TransportHTTP)
		}
	case spec.TransportHTTP:
	default:
		return nil, fmt.Errorf("unknown transport %q: want %q or %q", o.Transport, spec.TransportSockets,
			spec.TransportHTTP)
	}

	return newHTTPTransport(o)
}

func newHTTPTransport(o Options) (*httpTransport, error) {
	t := &httpTransport{
		urls: o.URLs, place: o.Place, dial: o.dialer(), unixSocket: o.UnixSocket, tls: o.TLS,
		handshake: o.ConnectTimeout,
	}
	var err error
	if t.header, t.host, err = requestHeader(o.ContentType, o.Headers); err != nil {
		return nil, err
	}

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	t.rt = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return t.connect(ctx, network, addr, t.open)
		},
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return t.connect(ctx, network, addr, t.openSecure)
		},
		DisableCompression: true,

		MaxResponseHeaderBytes: maxHead,

		DisableKeepAlives:   !o.ReuseConnections,
		MaxIdleConnsPerHost: max(o.Width, 1),
		IdleConnTimeout:     idleLimit,
		Protocols:           protocols,
	}

	return t, nil
}

// connect takes a connection that was prepared, or opens one.
func (t *httpTransport) connect(ctx context.Context, network, addr string, open DialFunc) (net.Conn, error) {
	if conn := t.ready.take(addr); conn != nil {
		if c := underneath(conn); c != nil {
			c.stamps = t.stamps
		}
		return conn, nil
	}
	return open(ctx, network, addr)
}

// open opens a connection whose reads are stamped.
func (t *httpTransport) open(ctx context.Context, network, addr string) (net.Conn, error) {
	if t.unixSocket != "" {
		network, addr = "unix", t.unixSocket
	}
	conn, err := t.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t.opened.Add(1)
	return t.stampConn(conn), nil
}

// openSecure opens a connection and encrypts it.
func (t *httpTransport) openSecure(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := t.open(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if t.handshake > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.handshake, errHandshake)
		defer cancel()
	}

	secure := tls.Client(conn, tlsConfig(t.tls, addr))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if errors.Is(context.Cause(ctx), errHandshake) {
			err = errHandshake
		}
		return nil, err
	}
	return secure, nil
}

var errHandshake = errors.New("TLS handshake timeout")

// tlsConfig returns the configuration of a connection to addr.
func tlsConfig(c *tls.Config, addr string) *tls.Config {
	if c = c.Clone(); c == nil {
		c = new(tls.Config)
	}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(addr)
	}
	return c
}

// requestHeader returns the header of every request: bench's own, overridden by
// extra, whose Host is returned apart.
func requestHeader(contentType string, extra map[string]string) (h http.Header, host string, err error) {
	extra, err = spec.CanonicalHeaders(extra)
	if err != nil {
		return nil, "", err
	}

	h = http.Header{
		"Content-Type": {cmp.Or(contentType, "application/json")},
		"Accept":       {"*/*"},
		"User-Agent":   {"bench"},
	}

	for name, value := range extra {
		if name == "Host" {
			host = value
			continue
		}
		h.Set(name, value)
	}

	return h, host, nil
}

// httpOutgoing is sent as it is waited for.
type httpOutgoing struct {
	t       *httpTransport
	ctx     context.Context //nolint:containedctx // of this one request
	r       Request
	to      AnswerReader
	written atomic.Int64 // time.Duration; 0: not yet
}

func (t *httpTransport) Stage(ctx context.Context, r Request, to AnswerReader) Outgoing {
	return &httpOutgoing{t: t, ctx: ctx, r: r, to: to}
}

func (o *httpOutgoing) Write() {}

func (o *httpOutgoing) Drop() {}

// Written implements Outgoing.
func (o *httpOutgoing) Written() time.Duration { return time.Duration(o.written.Load()) }

// Wait leaves Request.GetBody unset: net/http repeats a request on a new
// connection only if it can read its body again.
func (o *httpOutgoing) Wait() error {
	t, r := o.t, o.r
	failure := &SendError{}
	var conn *stampedConn
	ctx := httptrace.WithClientTrace(o.ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			failure.Connected, failure.Reused, conn = true, info.Reused, underneath(info.Conn)
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { o.written.Store(int64(t.clock.Now())) },
	})

	header := withUser(t.header, t.urls[r.Replica]).Clone()
	header.Set("X-Request-Id", r.ID)
	req := (&http.Request{
		Method:        http.MethodPost,
		URL:           t.urls[r.Replica],
		Host:          t.host,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(r.Body)),
		ContentLength: int64(len(r.Body)),
	}).WithContext(ctx)
	resp, err := t.rt.RoundTrip(req)
	if err != nil {
		if failure.Err = err; strings.Contains(err.Error(), "response headers exceeded") {
			failure.Err = ErrHeadTooLong // net/http has no error value of its own for it
		}
		return failure
	}
	defer resp.Body.Close()

	o.to.Begin(&Reply{
		Status:   resp.StatusCode,
		Header:   resp.Header,
		HeaderAt: t.clock.Now(),
		Body:     &stampingBody{body: resp.Body, clock: t.clock, conn: conn},
		Reused:   failure.Reused,
	})

	for !o.to.Step() {
	}

	return nil
}

// Prepare opens connections as requests will ask for them. What does not succeed in
// time is left to the requests themselves.
func (t *httpTransport) Prepare(ctx context.Context, n int) {
	secure := slices.ContainsFunc(t.urls, func(u *url.URL) bool { return u.Scheme == "https" })
	limit := preparing
	if secure {
		limit = securePreparing
	}
	inAdvance(ctx, n, limit, func(ctx context.Context, i int) error {
		u, open, kept := t.urls[i%len(t.urls)], t.open, preparedLimit
		if u.Scheme == "https" {
			open, kept = t.openSecure, securePreparedLimit
		}
		addr := net.JoinHostPort(u.Hostname(), portOf(u))
		conn, err := open(ctx, "tcp", addr)
		if err == nil {
			t.ready.put(addr, conn, kept)
		}
		return err
	})
}

func (t *httpTransport) Start(c Clock) { t.clock, t.stamps = c, newStamper(c) }

func (t *httpTransport) Close(r *results.ClientReport) {
	t.rt.CloseIdleConnections()
	t.ready.close()
	r.Transport, r.ConnectionsNo = spec.TransportHTTP, int(t.opened.Load())
	t.stamps.describe(r)
	if t.place.describe(r) {
		r.PlaceRefused = "net/http reads with any thread of bench: only sockets have threads that can be placed"
	}
}
