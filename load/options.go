// Package load is the embedded client: it sends prompts to servers of several
// APIs by an arrival schedule, reads the streamed answers, and emits one
// results.Record a request.
//
// What goes in: a Target, prompts, a schedule of arrivals. What comes out:
// records and a report of the client's own behaviour. It computes no figures,
// knows no process, no scenario and no GPU, and never retries a request.
package load

import (
	"context"
	"crypto/tls"
	"net/url"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// Target is where requests go.
type Target struct {
	BaseURLs []string // one per replica; a path prefix is kept, and a trailing "/v1" is not doubled
	Path     string   // request path appended to the base URL: "/v1/completions"
	API      string   // body dialect, one of APIs: "completions", "chat", "ollama" and so on
	Model    string
	Headers  map[string]string // Authorization included
	TLS      *tls.Config       // for https; nil: the system's roots
	// CA is the PEM of the authorities in TLS.RootCAs, which do not tell: whoever
	// sends from another host makes them of it again. Empty: the system's.
	CA []byte
	// UnixSocket is the path of the socket that all requests go to; the base
	// URL's host is then a name only. "": TCP.
	UnixSocket string
}

// Options say how to drive the target. The zero value of a limit means no limit.
type Options struct {
	spec.Settings

	Target   Target
	Arrivals []float64 // intended send time of each prompt, seconds from the start, ascending (see Arrivals)
	// MaxFailures ends the pass when more requests have failed, in flight ones
	// canceled: its verdict is certain then. Prompts that the server refuses for
	// their length do not count (see TooLong). 0: it goes on to its end. Load agents
	// do not know of each other's failures and continue. A pass whose first answers
	// refuse every request (see Refuses) ends in any case.
	MaxFailures int
	// Enough gets the record of each request that has ended, one at a time and before the
	// record is emitted. Once it returns true, nothing more is sent, and requests in
	// flight run to their ends. Nil: never. Load agents do not call it.
	Enough func(*results.Record) bool
	// Stop, once it is closed, ends the sending; requests in flight run to their ends. Nil: never. Load agents do not
	// know of it.
	Stop <-chan struct{}
	// Repeat takes the prompts round and round: as many as Arrivals has times,
	// or without Arrivals until Duration ends. Records are numbered on.
	Repeat          bool
	Place           Place              // of the threads that read answers; zero: wherever this program runs
	RequestID       func(i int) string // nil: RequestIDPrefix and i
	RequestIDPrefix string             // "": "bench-"
	// Start, if there is one, is called when the first wave is ready and decides
	// when second 0 is, which may be to come. Its error ends the pass before
	// anything is sent. Nil: second 0 is at once.
	Start func(ctx context.Context) (time.Time, error)
	// nil: none; called once with second 0, on the monotonic clock, before anything is sent
	Started        func(time.Time)
	Progress       func(Progress) // nil: none; called at most every ProgressPeriod and once at the end
	ProgressPeriod time.Duration  // 0: one second
	// CountTokens counts the tokens of an answer for which the server gave no
	// count. It is called one answer at a time, after the last request ended.
	// Nil, or an error: content chunks are counted instead.
	CountTokens func(ctx context.Context, text string) (int, error)
}

// Progress is a snapshot while a pass runs.
type Progress struct {
	Sent, Completed, Failed, InFlight int
	Total                             int // 0: not known, the duration decides
	OutputChunks                      int64
	Elapsed                           time.Duration
}

// Emit receives each record once, when its request has ended. Calls do not
// overlap. An error (a full disk) ends the pass.
type Emit func(results.Record) error

// ExampleBody returns the request body that Run would send for p, with the
// prompt cut short: for people to read.
func ExampleBody(o Options, p dialect.Prompt) (string, error) {
	api, err := dialect.APINamed(o.Target.API)
	if err != nil {
		return "", err
	}
	return api.Example(o.common().Of(p), p)
}

// common is what the requests of the pass have in common.
func (o *Options) common() *dialect.Common {
	return &dialect.Common{Settings: &o.Settings, Model: o.Target.Model}
}

// wire says how to reach the servers at urls, width requests at once.
func (o *Options) wire(urls []*url.URL, width int, dial wire.DialFunc) wire.Options {
	api, _ := dialect.APINamed(o.Target.API) // newPass has checked it
	return wire.Options{
		URLs: urls, ContentType: api.ContentType(), Headers: o.Target.Headers,
		UnixSocket: o.Target.UnixSocket, TLS: o.Target.TLS,
		Transport:        o.Transport,
		ReuseConnections: o.ReuseConnections, ConnectTimeout: o.Timeouts.Connect, Width: width, Dial: dial,
		Place: o.Place,
	}
}
