package load

import (
	"bytes"
	"context"
	"crypto/tls"
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

	"github.com/benchrig/bench/results"
)

// idleLimit is how long, with ReuseConnections, an unused connection is kept: shorter than the 5 s
// after which uvicorn and llama-server close theirs, so that no request is
// sent on a connection that the server is closing.
const idleLimit = 3 * time.Second

// transport carries requests to the servers. It never sends one twice.
type transport interface {
	// stage makes one request ready to be sent, whose answer to will take.
	stage(ctx context.Context, r wireRequest, to taker) outgoing
	// prepare opens connections for n requests that are to be sent at once. It
	// comes before start.
	prepare(ctx context.Context, n int)
	// start gives the clock to stamp by. It comes before the first send.
	start(c clock)
	// close drops idle connections and tells of the pass: connections opened,
	// and where its times come from.
	close(r *results.ClientReport)
}

// outgoing is one request that is ready.
type outgoing interface {
	// write sends it, or leaves that to wait: it does not wait for anything.
	write()
	// wait returns when the answer was read. Its errors, of type *sendError, say
	// that none began.
	wait() error
	// drop is called in place of both.
	drop()
}

// wireRequest is one request as it goes out.
type wireRequest struct {
	replica int
	id      string // for X-Request-Id
	body    []byte
}

// reply is an answer whose body is still to be read.
type reply struct {
	status   int
	header   http.Header
	headerAt time.Duration
	body     stampedReader
	reused   bool     // the connection had carried a request before
	lent     *scratch // for use within step; nil: none
}

// taker reads one answer. begin is called once its header is in, then step
// until it returns true: each time bytes have come, or again and again where
// reads wait for them.
type taker interface {
	begin(rep *reply)
	step() bool
}

// sendError says how far a request came that got no answer.
type sendError struct {
	connected bool // false: there was no connection to send it on
	reused    bool
	err       error
}

func (e *sendError) Error() string { return e.err.Error() }

// dialFunc opens connections, as net.Dialer.DialContext does.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// httpTransport carries requests by net/http: HTTP/1.1, no proxy, no
// compression, no redirects.
type httpTransport struct {
	rt     *http.Transport
	urls   []*url.URL
	header http.Header
	host   string // Host header; "": the URL's
	clock  clock
	opened atomic.Int64
}

// wireOptions say how to reach the servers.
type wireOptions struct {
	URLs             []*url.URL        // one a replica
	Headers          map[string]string // of every request
	UnixSocket       string            // "": TCP
	TLS              *tls.Config       // nil: the system's roots
	Transport        string            // TransportSockets or TransportHTTP; "": sockets for http, net/http for https
	ReuseConnections bool
	ConnectTimeout   time.Duration // for TCP, and again for the TLS handshake; 0: none
	Width            int           // requests that may be in flight at once
	Dial             dialFunc      // nil: the network
}

func (o wireOptions) dialer() dialFunc {
	if o.Dial != nil {
		return o.Dial
	}
	return (&net.Dialer{Timeout: o.ConnectTimeout}).DialContext
}

// newTransport chooses the transport for the URLs.
func newTransport(o wireOptions) (transport, error) {
	secure := slices.ContainsFunc(o.URLs, func(u *url.URL) bool { return u.Scheme == "https" })
	switch o.Transport {
	case "", TransportSockets:
		if !secure {
			return newSocketTransport(o)
		}
		if o.Transport == TransportSockets {
			return nil, fmt.Errorf("choose transport: %q carries no https; use %q", TransportSockets, TransportHTTP)
		}
	case TransportHTTP:
	default:
		return nil, fmt.Errorf("choose transport: %q is none; use %q or %q", o.Transport, TransportSockets, TransportHTTP)
	}
	return newHTTPTransport(o), nil
}

func newHTTPTransport(o wireOptions) *httpTransport {
	t := &httpTransport{urls: o.URLs}
	t.header, t.host = requestHeader(o.Headers)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	t.rt = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if o.UnixSocket != "" {
				network, addr = "unix", o.UnixSocket
			}
			conn, err := o.dialer()(ctx, network, addr)
			if err == nil {
				t.opened.Add(1)
			}
			return conn, err
		},
		TLSClientConfig:     tlsConfig(o.TLS),
		TLSHandshakeTimeout: o.ConnectTimeout,
		DisableCompression:  true,
		DisableKeepAlives:   !o.ReuseConnections,
		MaxIdleConnsPerHost: max(o.Width, 1),
		IdleConnTimeout:     idleLimit,
		Protocols:           protocols,
	}
	return t
}

func tlsConfig(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	return c.Clone()
}

func requestHeader(extra map[string]string) (h http.Header, host string) {
	h = http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"*/*"},
		"User-Agent":   {"bench"},
	}
	for name, value := range extra {
		if strings.EqualFold(name, "Host") {
			host = value
			continue
		}
		h.Set(name, value)
	}
	return h, host
}

// httpOutgoing is sent as it is waited for.
type httpOutgoing struct {
	t   *httpTransport
	ctx context.Context //nolint:containedctx // of this one request
	r   wireRequest
	to  taker
}

func (t *httpTransport) stage(ctx context.Context, r wireRequest, to taker) outgoing {
	return &httpOutgoing{t: t, ctx: ctx, r: r, to: to}
}

func (o *httpOutgoing) write() {}

func (o *httpOutgoing) drop() {}

func (o *httpOutgoing) wait() error { return o.t.send(o.ctx, o.r, o.to) }

// send leaves Request.GetBody unset: net/http repeats a request on a new
// connection only if it can read its body again.
func (t *httpTransport) send(ctx context.Context, r wireRequest, to taker) error {
	failure := &sendError{}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { failure.connected, failure.reused = true, info.Reused },
	})
	header := t.header.Clone()
	header.Set("X-Request-Id", r.id)
	req := (&http.Request{
		Method:        http.MethodPost,
		URL:           t.urls[r.replica],
		Host:          t.host,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(r.body)),
		ContentLength: int64(len(r.body)),
	}).WithContext(ctx)
	resp, err := t.rt.RoundTrip(req)
	if err != nil {
		failure.err = err
		return failure
	}
	defer resp.Body.Close()
	to.begin(&reply{
		status:   resp.StatusCode,
		header:   resp.Header,
		headerAt: t.clock.now(),
		body:     &stampingBody{body: resp.Body, clock: t.clock},
		reused:   failure.reused,
	})
	for !to.step() {
	}
	return nil
}

// prepare does nothing: net/http opens connections as requests come.
func (t *httpTransport) prepare(context.Context, int) {}

func (t *httpTransport) start(c clock) { t.clock = c }

func (t *httpTransport) close(r *results.ClientReport) {
	t.rt.CloseIdleConnections()
	r.Transport, r.Stamps, r.ConnectionsNo = TransportHTTP, "user", int(t.opened.Load())
}

// stampingBody stamps each read as soon as it returns.
type stampingBody struct {
	body  io.Reader
	clock clock
}

func (b *stampingBody) ReadStamped(p []byte) (int, time.Duration, error) {
	n, err := b.body.Read(p)
	return n, b.clock.now(), err
}
