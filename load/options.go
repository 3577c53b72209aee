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
	BaseURLs []string // one a replica; a path prefix is kept, and a trailing "/v1" is not doubled
	Path     string   // request path appended to the base URL: "/v1/completions"
	API      string   // body dialect, one of APIs: "completions", "chat", "ollama" and so on
	Model    string
	Headers  map[string]string // Authorization included
	Body     map[string]any    // further fields, merged last, into nested objects too
	TLS      *tls.Config       // for https; nil: the system's roots
	// CA is the PEM of the authorities in TLS.RootCAs, which do not tell: whoever
	// sends from another host makes them of it again. Empty: the system's.
	CA []byte
	// UnixSocket is the path of the socket that all requests go to; the base
	// URL's host is then a name only. "": TCP.
	UnixSocket string
	// MaxTokensField names the field that limits a chat answer's length. "" is
	// max_completion_tokens, which vLLM's own client sends; servers that know
	// only the older name need "max_tokens". Completions always use max_tokens.
	MaxTokensField string
}

// Options say how to drive the target. The zero value of a limit is no limit.
type Options struct {
	Target         Target
	Arrivals       []float64 // intended send time of each prompt, seconds from the start, ascending (see Arrivals)
	MaxConcurrency int       // requests in flight over all replicas; 0: no cap. A conversation keeps its place to its end
	IgnoreEOS      bool      // answers go on to their full length; not sent where the API has no such field (see APIs)
	Temperature    *float64  // Sampling.Temperature, which goes before
	Sampling       spec.Sampling
	Bodies         string        // whose request bodies to send: BodiesOwn, or to the byte those of a version of vLLM's client
	NoStream       bool          // ask for whole answers: each is one chunk, and no first-token or stall limit applies
	ThinkTime      time.Duration // from the end of an answer to the next turn of its conversation
	Timeouts       spec.Timeouts
	// Duration ends the sending: from then on no request starts, and turns of
	// conversations that were still to come are not sent. What is in flight
	// goes on and is recorded like the rest, and the pass ends with the last of
	// it; 0: the prompts' number decides alone.
	Duration time.Duration
	// DrainLimit ends what is still in flight so long after Duration. Those
	// requests fail as canceled; the pass does not count as interrupted.
	DrainLimit time.Duration
	// Repeat takes the prompts round and round: as many as Arrivals has times,
	// or without Arrivals until Duration ends. Records are numbered on.
	Repeat bool
	// ReuseConnections sends a request on a connection that carried another one
	// before. By default each has its own: llama-server closes used connections
	// under load, and a request that meets the close is lost, since nothing is
	// ever sent twice. The connect is part of the latency then.
	ReuseConnections bool
	Transport        string             // TransportSockets or TransportHTTP; "": sockets for http, net/http for https
	KeepText         bool               // keep the answers' text, reasoning and content as they came, in the records
	RequestID        func(i int) string // nil: RequestIDPrefix and i
	RequestIDPrefix  string             // "": "bench-"
	// Start, if there is one, is called when the first wave is ready and decides
	// when second 0 is, which may be to come. Its error ends the pass before
	// anything is sent. Nil: second 0 is at once.
	Start          func(ctx context.Context) (time.Time, error)
	Started        func(time.Time) // nil: none; called once with second 0, on the monotonic clock, before anything is sent
	Progress       func(Progress)  // nil: none; called at most every ProgressPeriod and once at the end
	ProgressPeriod time.Duration   // 0: one second
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
	return api.Example(o.common(), p)
}

// common is what the requests of the pass have in common.
func (o *Options) common() *dialect.Common {
	c := &dialect.Common{
		Model: o.Target.Model, MaxTokensField: o.Target.MaxTokensField, IgnoreEOS: o.IgnoreEOS, NoStream: o.NoStream,
		Sampling: o.Sampling, Bodies: o.Bodies, Body: o.Target.Body,
	}
	if c.Sampling.Temperature == nil {
		c.Sampling.Temperature = o.Temperature
	}
	return c
}

// wire says how to reach the servers at urls, width requests at once.
func (o *Options) wire(urls []*url.URL, width int, dial wire.DialFunc) wire.Options {
	return wire.Options{
		URLs: urls, Headers: o.Target.Headers, UnixSocket: o.Target.UnixSocket, TLS: o.Target.TLS, Transport: o.Transport,
		ReuseConnections: o.ReuseConnections, ConnectTimeout: o.Timeouts.Connect, Width: width, Dial: dial,
	}
}
