// Package record watches live traffic between clients and an inference server
// and keeps what a replay needs: when each request came and how long it took,
// how long it and its answer were, which blocks of text it shared with others,
// and which session it belonged to.
//
// What goes in: requests, through a reverse proxy, and a writer. What comes
// out: one line of JSON for each request that was answered, as dataset kind
// "sessions" reads them. It changes nothing of what passes, but that answers are
// not compressed; never stores a text, a header or an address; and forgets the
// key of its hashes when it ends.
package record

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load/dialect"
)

// maxBody bounds a request body that is looked at; longer ones pass, but are not recorded.
const maxBody = 256 << 20

// Options say what is recorded.
type Options struct {
	Upstream      *url.URL
	SessionHeader string    // header whose value names the session; "": found by what prompts begin with
	Out           io.Writer // gets one line for each request, whole lines only
}

// Counts are what a recording holds so far.
type Counts struct {
	Requests, Sessions int
	Skipped            int // not recorded: failed, of an unknown API, too long, or without token counts
	Estimated          int // whose length is estimated, because the server did not count
}

// String is such as "16 requests in 8 sessions; 1 not recorded: ...".
func (c Counts) String() string {
	words := text.Count(c.Requests, "request") + " in " + text.Count(c.Sessions, "session")
	if c.Skipped > 0 {
		words += fmt.Sprintf("; %d not recorded: failed, canceled, or not understood", c.Skipped)
	}
	if c.Estimated > 0 {
		words += fmt.Sprintf("; %d with estimated lengths: the server did not count their tokens", c.Estimated)
	}
	return words
}

// Recorder is an http.Handler that passes everything on to the upstream.
type Recorder struct {
	opts  Options
	proxy *httputil.ReverseProxy
	first sync.Once
	start time.Time // when the first request came

	mu       sync.Mutex
	hashes   *hasher
	sessions *sessionFinder
	counts   Counts
	recorded map[string]bool // sessions
	err      error           // of the writer
}

// New returns a recorder with a hash key of its own.
func New(o Options) *Recorder {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	r := &Recorder{opts: o, hashes: &hasher{key: key}, sessions: newSessionFinder(), recorded: map[string]bool{}}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(o.Upstream)
			p.Out.Host = o.Upstream.Host
		},
		Transport: &http.Transport{
			DisableCompression: true, MaxIdleConnsPerHost: 1024, DialContext: (&net.Dialer{}).DialContext,
		},
		FlushInterval: -1, // at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "bench record: the server cannot be reached: "+err.Error(), http.StatusBadGateway)
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return r
}

// Counts returns what was recorded so far, and the error that ended it.
func (r *Recorder) Counts() (Counts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts, r.err
}

// ServeHTTP passes a request on, and records it where it asks for an answer.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	api, known := dialect.OfPath(q.URL.Path)
	if q.Method != http.MethodPost || !known {
		r.proxy.ServeHTTP(w, q)
		return
	}

	begun, err := r.take(q)
	if err != nil {
		http.Error(w, "read request: "+err.Error(), http.StatusBadRequest)
		return
	}

	// A compressed answer could not be read: the client gets it plain.
	q.Header.Del("Accept-Encoding")
	seen := &watcher{ResponseWriter: w, counter: newCounter(api)}
	r.proxy.ServeHTTP(seen, q)
	r.end(begun, seen, time.Since(begun.came))
}

// take reads a request and what can be known of it before it is answered. Its body can
// be read again.
func (r *Recorder) take(q *http.Request) (begun, error) {
	r.first.Do(func() { r.start = time.Now() }) // before any request's time is taken
	body, err := io.ReadAll(io.LimitReader(q.Body, maxBody+1))
	if err != nil {
		return begun{}, err
	}
	came := time.Now()
	q.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), q.Body))
	return r.begin(body, q.Header.Get(r.opts.SessionHeader), came), nil
}

// begun is a request on its way.
type begun struct {
	ok      bool
	came    time.Time // all of it
	session string
	hashes  []uint64
	bytes   int // of its text
}

// begin finds out what can be known of a request before it is answered.
func (r *Recorder) begin(body []byte, header string, came time.Time) begun {
	texts, err := textsOf(body)
	r.mu.Lock()
	defer r.mu.Unlock()

	if err != nil || len(body) > maxBody {
		return begun{came: came}
	}

	prompt := r.hashes.prompt(texts)
	session := r.sessions.of(prompt)
	if header != "" {
		session = r.sessions.named(r.hashes.name(header))
	}
	return begun{ok: true, came: came, session: session, hashes: prompt.blocks, bytes: prompt.bytes}
}

// line is a request as dataset/sessions reads it. Times are in milliseconds.
type line struct {
	Session   string   `json:"session_id"`
	Timestamp float64  `json:"timestamp"`
	Duration  float64  `json:"duration"`
	Input     int      `json:"input_length"`
	Output    int      `json:"output_length"`
	Hashes    []uint64 `json:"hash_ids"`
}

// end writes down a request that was answered.
func (r *Recorder) end(b begun, seen *watcher, took time.Duration) {
	seen.counter.end()
	input, output, counted := seen.counter.lengths(b.bytes)
	r.mu.Lock()
	defer r.mu.Unlock()

	if !b.ok || seen.status != http.StatusOK || seen.counter.failed || output < 1 || input < 1 || r.err != nil {
		r.counts.Skipped++
		return
	}

	data, err := json.Marshal(line{
		Session: b.session, Timestamp: milliseconds(b.came.Sub(r.start)), Duration: milliseconds(took),
		Input: input, Output: output,
		Hashes: b.hashes,
	})
	if err == nil {
		_, err = r.opts.Out.Write(append(data, '\n'))
	}
	if r.err = err; err != nil {
		return
	}

	r.counts.Requests++
	r.recorded[b.session] = true
	r.counts.Sessions = len(r.recorded)
	if !counted {
		r.counts.Estimated++
	}
}

// milliseconds to the microsecond.
func milliseconds(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }

// textsOf are the pieces of a request's prompt in their order: messages, or one
// text, or token ids. Their form does not matter, only that the same piece
// gives the same text.
func textsOf(body []byte) ([]string, error) {
	var q struct {
		Messages []json.RawMessage `json:"messages"`
		System   json.RawMessage   `json:"system"`
		Tools    json.RawMessage   `json:"tools"`
		Prompt   json.RawMessage   `json:"prompt"`
		Inputs   json.RawMessage   `json:"inputs"`
		Input    json.RawMessage   `json:"input"`
		Text     json.RawMessage   `json:"text"`
		IDs      json.RawMessage   `json:"input_ids"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}

	var texts []string
	for _, piece := range append([]json.RawMessage{q.Tools, q.System}, q.Messages...) {
		if len(piece) > 0 {
			texts = append(texts, compact(piece))
		}
	}
	for _, piece := range []json.RawMessage{q.Prompt, q.Inputs, q.Input, q.Text, q.IDs} {
		if len(piece) > 0 {
			var prompt string
			if json.Unmarshal(piece, &prompt) != nil {
				prompt = strings.TrimRight(compact(piece), "]") // a longer list begins as a shorter one
			}
			texts = append(texts, prompt)
		}
	}
	if len(texts) == 0 {
		return nil, errors.New("no prompt")
	}
	return texts, nil
}

// compact is JSON without blanks; the whole of it where it cannot be read.
func compact(piece json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, piece) != nil {
		return string(piece)
	}
	return b.String()
}
