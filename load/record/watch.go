package record

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/wire/sse"
)

// maxWhole is how long an answer in one piece may be to be looked at, in bytes.
const maxWhole = 64 << 20

// watcher passes an answer on and looks at it.
type watcher struct {
	http.ResponseWriter

	status  int
	counter *counter
}

func (w *watcher) WriteHeader(status int) {
	if w.status = status; status == http.StatusOK {
		kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
		w.counter.whole = kind == "application/json" && !w.counter.stream.Lines
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watcher) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.counter.add(p[:n])
	return n, err
}

// Unwrap lets the proxy flush.
func (w *watcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// counter reads how long an answer and its prompt were.
type counter struct {
	event, all    func([]byte, *event.Chunk) error
	whole         bool // the answer comes in one piece, which is pending
	pending       []byte
	arrived       arrived // of a stream
	stream        sse.Reader
	failed        bool // the answer cannot be read to its end: an event, or all of it, is too long
	chunk         event.Chunk
	input, output int // as the server counted; 0: it did not
	tokens        int // chunks with output
}

func newCounter(api dialect.API) *counter {
	c := &counter{event: api.Parser(), all: api.WholeParser()}
	c.stream.Lines = api.Lines
	c.stream.Reset(&c.arrived)
	return c
}

// arrived is what came of a stream and is not read yet.
type arrived struct {
	bytes []byte
	ended bool
}

// ReadStamped implements sse.StampedReader; nobody asks when bytes came.
func (a *arrived) ReadStamped(p []byte) (int, time.Duration, error) {
	switch {
	case len(a.bytes) > 0:
		n := copy(p, a.bytes)
		a.bytes = a.bytes[n:]
		return n, 0, nil
	case a.ended:
		return 0, 0, io.EOF
	}
	return 0, 0, sse.ErrWouldBlock
}

// add looks at the next bytes of the answer.
func (c *counter) add(p []byte) {
	switch {
	case c.failed:
	case !c.whole:
		c.arrived.bytes = p
		c.readEvents()
	case len(c.pending)+len(p) > maxWhole:
		c.pending, c.failed = nil, true
	default:
		c.pending = append(c.pending, p...)
	}
}

// readEvents reads the events that have come completely.
func (c *counter) readEvents() {
	for {
		data, _, err := c.stream.Next()
		if err != nil {
			c.failed = !errors.Is(err, sse.ErrWouldBlock) && !errors.Is(err, io.EOF)
			return
		}
		c.parse(c.event, data)
	}
}

// end reads what only the end of the answer completes.
func (c *counter) end() {
	switch {
	case c.failed:
	case c.whole:
		c.parse(c.all, c.pending)
		c.pending = nil
	default:
		c.arrived.ended = true
		c.readEvents()
	}
}

func (c *counter) parse(with func([]byte, *event.Chunk) error, data []byte) {
	if with(data, &c.chunk) != nil || c.chunk.Done {
		return
	}
	if event.IsToken(c.chunk.Kind()) {
		c.tokens++
	}
	for _, counts := range []event.TokenCounts{c.chunk.Timings, c.chunk.Usage} {
		if counts.Known() {
			c.input, c.output = max(counts.Input, 0), max(counts.Output, 0)
		}
	}
}

// bytesPerToken is about what a token of English takes.
const bytesPerToken = 4

// lengths returns the tokens of the prompt and of the answer; counted is false
// if one of them is estimated, from the prompt's bytes or from the chunks.
func (c *counter) lengths(promptBytes int) (input, output int, counted bool) {
	input, output, counted = c.input, c.output, true
	if input == 0 {
		input, counted = (promptBytes+bytesPerToken-1)/bytesPerToken, false
	}
	if output == 0 {
		output, counted = c.tokens, false
	}
	return input, output, counted
}
