package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/toolcall"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

const (
	wordsKept     = 2 << 10 // bytes of a server's words in a failure
	presetMax     = 4096    // chunks for which room is made in advance
	presetAsked   = 256     // the same where the answer's length is not known
	pooledMax     = 1 << 20 // bytes; larger buffers are not used again
	progressBatch = 16      // chunks reported to the progress together: all cores share its counter

	progressPeriod = time.Second // or fewer, so that a slow stream is seen to go on
)

// answer collects what one stream carries.
type answer struct {
	events      sse.Reader
	compat      compatReader
	chunk       *event.Chunk // of the lent scratch, or own
	own         event.Chunk
	parser      event.Repeats
	kinds       []byte
	text        []byte // reasoning and content in order of arrival
	content     []byte // content alone, for the turns to come
	keepContent bool   // keep said
	numbers     bool   // it consists of them
	whole       bool   // the answer was not streamed: its one chunk says nothing of tokens
	pieces      bool   // events that should repeat the text so far hold new text only

	undecided []byte // what events held, one after the other, while pieces is not known
	repeats   []int  // the chunks of those events

	budget *sse.Budget // of all answers of the pass
	taken  int         // bytes of the budget

	arrivals wire.Arrivals // what the body knows beyond its stamps; nil: nothing
	unknown  bool          // it did not know of a chunk
	late     []float64     // seconds by which chunks may have arrived earlier; nil: none
	latest   arrived       // the last chunk

	asked   int           // tokens; 0: not known
	tokenAt time.Duration // of the latest token chunk; below 0: none yet
	shared  int64         // token chunks with the arrival of one before

	chunkS     []float64 // belongs to the record; never used again
	finish     string
	calls      toolcall.Calls
	usage      event.TokenCounts
	timings    event.TokenCounts
	drafts     event.DraftCounts
	begun      bool          // an event came
	unreported int64         // chunks not yet reported to the progress
	reportedAt time.Duration // when chunks were last reported
	done       bool          // the end mark came
	doneAt     time.Duration // of [DONE]; 0: none came
	fault      *results.Failure
	garbage    error         // the first event that could not be understood
	end        time.Duration // end mark, error event, or the last read
}

// answerPool keeps the buffers of answers that have been read.
type answerPool struct {
	pool   sync.Pool
	budget *sse.Budget // of all answers that were not put back; nil: no limit
}

// get makes room for an answer of asked tokens, so that nothing is allocated
// while it arrives.
func (p *answerPool) get(asked int) *answer {
	a, ok := p.pool.Get().(*answer)
	if !ok {
		a = new(answer)
	}
	room := presetAsked
	if asked > 0 {
		room = min(asked+4, presetMax)
	}
	*a = answer{
		events: a.events, own: a.own, parser: a.parser, kinds: a.kinds[:0], text: a.text[:0], content: a.content[:0],
		chunkS: make([]float64, 0, room), usage: event.NoCounts, timings: event.NoCounts, tokenAt: -1, asked: asked,
		budget: p.budget,
	}
	a.chunk = &a.own
	return a
}

// put takes the buffers back. Nothing of a may be used afterwards.
func (p *answerPool) put(a *answer) {
	a.events.Release()
	p.budget.Give(a.taken)
	a.taken = 0
	if a.events.Footprint()+cap(a.text)+cap(a.content) > pooledMax {
		return
	}
	a.events.Reset(nil)
	a.chunk, a.compat = nil, compatReader{}
	p.pool.Put(a)
}

// begin makes body the stream to read, by way of lent if that is not nil. w is
// shown what is read.
func (a *answer) begin(body sse.StampedReader, api dialect.API, w *watch, lent *sse.Scratch) {
	a.arrivals, _ = body.(wire.Arrivals)
	a.events.Lines = api.Lines
	a.events.Reset(a.compat.tap(body, a, api))
	a.events.Watch, a.events.Budget = w, a.budget
	if a.events.Scratch = lent; lent != nil {
		a.chunk = sharedChunk(lent)
	}
}

// sharedChunk is the chunk that all answers of a loop use in turn.
func sharedChunk(lent *sse.Scratch) *event.Chunk {
	c, ok := lent.Value.(*event.Chunk)
	if !ok {
		c = new(event.Chunk)
		lent.Value = c
	}
	return c
}

// read takes in the stream up to its end and returns the error that ended it,
// io.EOF for a proper end. Where the body says ErrWouldBlock it returns that,
// and continues when called again. Counts of chunks go to progress as they come.
func (a *answer) read(api dialect.API, w *watch, progress *atomic.Int64) error {
	parse := api.Parser()
	for {
		data, at, err := a.events.Next()
		if err == sse.ErrWouldBlock { //nolint:errorlint // never wrapped, and asked for each event
			return err
		}
		if err != nil {
			progress.Add(a.unreported)
			if !a.done && a.fault == nil {
				a.end = at
			}
			return err
		}

		if !a.begun {
			a.begun = true
			w.firstEvent()
		}

		if a.done || a.fault != nil {
			a.compat.after(data, at, a.events.Spent())
			continue
		}
		if a.take(data, at, parse) {
			if a.unreported++; a.unreported >= progressBatch || at-a.reportedAt >= progressPeriod {
				progress.Add(a.unreported)
				a.unreported, a.reportedAt = 0, at
			}
			continue
		}
		a.end = at
		w.draining()
	}
}

// take stores one event, read by parse. It reports false when nothing more is
// expected of the stream: the end or an error came.
func (a *answer) take(data []byte, at time.Duration, parse func([]byte, *event.Chunk) error) bool {
	c := a.chunk
	err := a.parser.Parse(data, c, parse)
	garbage := err != nil && len(bytes.TrimSpace(data)) > 0
	if garbage && a.garbage == nil {
		a.garbage = event.DescribeJSONTrouble(data)
	}
	a.compat.look(data, c, garbage, at, a.events.Spent())
	if c.Done {
		a.done, a.doneAt = true, at
		return false
	}
	if c.Fault == nil && a.events.ErrorEvent {
		c.Fault = data
	}
	if c.Sofar {
		c.Content = a.fresh(c.Content, len(c.Finish) > 0)
	}
	if c.Fault == nil && a.endless(c) {
		a.fault = results.Failf(results.FailProtocol, "the answer does not end: %s and %s of text, requested: %s",
			text.Count(len(a.chunkS), "chunk"), text.Count(len(a.text), "byte"), text.Count(a.asked, "token"))
		return false
	}
	if c.Fault == nil && !a.affords() {
		a.fault = results.Failf(results.FailProtocol, "%v: this one has %s and %s of text",
			sse.ErrOverBudget, text.Count(len(a.chunkS), "chunk"), text.Count(len(a.text), "byte"))
		return false
	}
	a.chunkS = append(withRoom(a.chunkS, 1), at.Seconds())
	a.noteLate(at)
	kind := a.kind(c)
	a.kinds = append(withRoom(a.kinds, 1), byte(kind))
	if event.IsToken(kind) {
		if at == a.tokenAt {
			a.shared++
		}
		a.tokenAt = at
	}

	if c.Fault != nil {
		a.fault = results.Failf(results.FailInBand, "%s", event.FaultMessage(c.Fault, wordsKept))
		return false
	}

	a.keep(c)
	a.done = a.done || c.Last
	return !c.Last
}

// withRoom is s with room for n more. It doubles, where append takes a quarter more of what is large and so
// copies long answers five times.
func withRoom[T any](s []T, n int) []T {
	if cap(s)-len(s) < n {
		s = slices.Grow(s, max(n, len(s)))
	}
	return s
}

// arrived is what is known of when a chunk arrived.
type arrived struct {
	least time.Duration // not before
	stamp time.Duration
	of    wire.Arrival
}

// noteLate notes by how much the chunk that was just stored, and the one before
// it, may have arrived earlier than their stamp. Of chunks with one stamp only the
// last surely arrived then, and it only by the kernel's stamp. The bytes that a read left may have been merged
// with its own, whose stamp is then too late; they were not if they have another stamp and
// none came in between.
func (a *answer) noteLate(at time.Duration) {
	if a.arrivals == nil {
		return
	}

	k, i := a.arrivals.Arrival(), len(a.chunkS)-1
	a.unknown = a.unknown || !k.Known
	least := k.NotBefore
	if before := a.latest; i > 0 {
		switch {
		case at == before.stamp:
			a.setLate(i-1, at-before.least)
			least = max(least, before.least)
		case !before.of.Left:
			least = max(least, before.stamp)
		case before.of.Exact && before.of.Grew == k.Grew:
			a.setLate(i-1, 0)
			least = max(least, before.stamp)
		default:
			least = max(least, before.least)
		}
	}

	a.latest = arrived{least, at, k}
	if k.Left || !k.Exact {
		a.setLate(i, at-least)
	}
}

// setLate sets the entry of chunk i.
func (a *answer) setLate(i int, by time.Duration) {
	if by <= 0 && i >= len(a.late) {
		return
	}
	for len(a.late) <= i {
		a.late = append(a.late, make([]float64, cap(a.chunkS)-len(a.late))...)
	}
	a.late[i] = max(by, 0).Seconds()
}

// Limits of one answer, so that memory is bounded whatever a server sends. They
// are far beyond what any model says to the load asked for.
const (
	chunksPerToken = 16       // chunks for each token asked for
	extraChunks    = 16_384   // chunks beside them
	maxChunks      = 1 << 20  // where no length was asked for
	maxText        = 16 << 20 // bytes
	textPerToken   = 1 << 10  // bytes for each token asked for
	extraText      = 1 << 20  // bytes beside them

	freeMemory = 64 << 10 // bytes of an answer that do not count for the budget
)

// affords reports whether the budget of all answers bears what the answer holds,
// and takes more of it in large steps.
func (a *answer) affords() bool {
	size := cap(a.text) + cap(a.content) + cap(a.kinds) + 8*cap(a.chunkS) + a.calls.Bytes()
	if size <= a.taken+freeMemory {
		return true
	}
	if !a.budget.Take(size - a.taken) {
		return false
	}
	a.taken = size
	return true
}

// endless reports whether the answer continues beyond all bounds with the chunk.
func (a *answer) endless(c *event.Chunk) bool {
	chunks, text := maxChunks, maxText
	if a.asked > 0 {
		chunks = min(chunks, a.asked*chunksPerToken+extraChunks)
		text = min(text, a.asked*textPerToken+extraText)
	}
	return len(a.chunkS) >= chunks || len(a.text)+len(c.Content)+len(c.Reasoning)+a.calls.Bytes() > text
}

// kind is that of the chunk, but for the content of a whole answer.
func (a *answer) kind(c *event.Chunk) results.ChunkKind {
	kind := c.Kind()
	if a.whole && event.IsToken(kind) {
		return results.ChunkWhole
	}
	return kind
}

// keep stores what the chunk says.
func (a *answer) keep(c *event.Chunk) {
	a.numbers = a.numbers || c.Numbers
	for _, piece := range c.Calls {
		a.calls.Add(piece)
	}
	if len(c.Reasoning) > 0 && !a.keepContent {
		a.keepContent = true // from here on the text is not the content alone
		a.content = append(a.content[:0], a.text...)
	}
	a.text = append(append(withRoom(a.text, len(c.Reasoning)+len(c.Content)), c.Reasoning...), c.Content...)
	if a.keepContent {
		a.content = append(a.content, c.Content...)
	}

	if c.Whole != nil {
		a.text = append(a.text[:0], c.Whole...)
		a.content = append(a.content[:0], c.Whole...)
	}

	if len(c.Finish) > 0 {
		a.finish = string(c.Finish)
	}
	if c.Usage.Known() {
		a.usage = c.Usage.Over(a.usage)
	}
	if c.Timings.Known() {
		a.timings = c.Timings
	}
	if c.Drafts.Tokens > 0 {
		a.drafts = c.Drafts
	}
}

// maxUndecided bounds the text that is kept until it is known whether events
// repeat the text so far, in bytes.
const maxUndecided = 4 << 10

// fresh returns what is new in the text so far. The last event may hold less
// than came before: servers cut a stop string off again.
//
// A server may stream only what is new instead. Its pieces look like a repeated
// text as long as each happens to begin with all of the text before ("ha",
// "ha"); once one does not, all of them were pieces.
func (a *answer) fresh(sofar []byte, last bool) []byte {
	switch {
	case a.pieces:
		return sofar
	case last && len(sofar) == 0:
		return nil
	case bytes.HasPrefix(sofar, a.text):
		if len(a.undecided)+len(sofar) <= maxUndecided {
			a.undecided = append(a.undecided, sofar...)
			a.repeats = append(a.repeats, len(a.kinds))
		}
		return sofar[len(a.text):]
	case last && bytes.HasPrefix(a.text, sofar):
		a.text = a.text[:len(sofar)]
		a.content = append(a.content[:0], a.text...)
		return nil
	}

	a.pieces = true
	if len(a.undecided) < maxUndecided {
		a.text = append(a.text[:0], a.undecided...)
		a.content = append(a.content[:0], a.undecided...)
		for _, at := range a.repeats {
			a.kinds[at] = byte(results.ChunkText)
		}
	}
	return sofar
}

// verdict turns the way the stream ended into a failure, nil for success.
// cause is why the request was ended, if bench ended it.
func (a *answer) verdict(err, cause error, reused bool) *results.Failure {
	switch {
	case a.fault != nil:
		return a.fault
	case a.done:
	case errors.Is(err, sse.ErrEventTooLong), errors.Is(err, sse.ErrOverBudget):
		return results.Failf(results.FailProtocol, "read stream: %v", err)
	case !errors.Is(err, io.EOF):
		return broken(err, cause, len(a.chunkS), reused)
	case a.finish == "":
		return a.incomplete()
	}

	if a.garbage != nil {
		return results.Failf(results.FailProtocol, "read stream: %v", a.garbage)
	}
	if a.tokens() == 0 {
		return results.Failf(results.FailNoTokens,
			"the answer ended properly but carried no text (%d chunks, finish reason %q, server counted %d output "+
				"tokens)",
			len(a.chunkS), a.finish, max(a.usage.Output, 0))
	}

	return nil
}

// incomplete describes a stream that ended in order but too early.
func (a *answer) incomplete() *results.Failure {
	odd := a.events.InvalidLine
	switch {
	case a.garbage != nil:
		return results.Failf(results.FailProtocol, "read stream: %v", a.garbage)
	case bytes.HasPrefix(odd, []byte("error:")):
		return results.Failf(results.FailInBand, "%s", event.BodyMessage(odd[len("error:"):], wordsKept))
	case event.FaultIn(odd) != nil:
		return results.Failf(results.FailInBand, "%s", event.BodyMessage(odd, wordsKept))
	case a.events.Total == 0:
		return results.Failf(results.FailTruncated, "the stream ended without a byte")
	case isHTML(odd):
		return results.Failf(results.FailProtocol, "the answer is HTML, not an event stream; check the request path. "+
			"It begins %q",
			event.Cut(string(odd), sse.MaxInvalidLine))
	case a.events.InvalidLines > 0:
		return results.Failf(results.FailProtocol, "not an event stream: %q",
			event.Cut(string(odd), sse.MaxInvalidLine))
	case bytes.Contains(a.kinds, []byte{byte(results.ChunkOther)}) && !a.hadChoices():
		return results.Failf(results.FailProtocol,
			"none of the %d events of the stream belongs to the requested API; check the request path", len(a.kinds))
	case a.events.Partial() != "":
		return results.Failf(results.FailTruncated, "the stream ended after %d chunks inside an event: %q",
			len(a.chunkS), event.Cut(a.events.Partial(), 200))
	}

	return results.Failf(results.FailTruncated, "the stream ended after %d chunks without finish reason or [DONE]",
		len(a.chunkS))
}

// isHTML reports whether a line is how pages of HTML begin.
func isHTML(line []byte) bool {
	line = bytes.ToLower(bytes.TrimSpace(line))
	return bytes.HasPrefix(line, []byte("<!doctype html")) || bytes.HasPrefix(line, []byte("<html"))
}

// hadChoices reports whether any chunk held a choice.
func (a *answer) hadChoices() bool {
	other := string([]byte{byte(results.ChunkOther), byte(results.ChunkUsage), byte(results.ChunkError)})
	return len(bytes.Trim(a.kinds, other)) > 0
}

// tokens counts the chunks that carried output of the model.
func (a *answer) tokens() int {
	n := 0
	for _, k := range a.kinds {
		if event.IsToken(results.ChunkKind(k)) {
			n++
		}
	}
	return n
}

// fill puts what the stream carried into r.
func (a *answer) fill(r *results.Record, keepText bool) {
	r.ChunkS, r.ChunkKinds = a.chunkS, string(a.kinds)
	if n := len(a.chunkS); len(a.late) > 0 {
		r.ChunkLateS = slices.Grow(a.late, max(n-len(a.late), 0))[:n]
	}
	r.FinishReason = a.finish
	if a.doneAt > 0 {
		r.DoneS = new(a.doneAt.Seconds())
	}
	r.TextSHA256 = a.hash()
	if keepText {
		r.Text = string(a.text)
		if bytes.IndexByte(a.kinds, byte(results.ChunkReasoning)) >= 0 || !bytes.Equal(a.text, a.content) &&
			a.keepContent {
			r.Content = new(string(a.content))
		}
	}

	r.InputTokens = atLeast(1, a.usage.Input, a.timings.Input)
	r.CachedTokens = atLeast(0, a.usage.Cached, a.timings.Cached)
	if a.drafts.Tokens > 0 {
		r.DraftTokens, r.AcceptedTokens, r.Drafts = atLeast(0, a.drafts.Tokens), atLeast(0,
			a.drafts.Accepted), atLeast(1, a.drafts.Steps)
	}
	if n := atLeast(1, a.usage.Output); n != nil {
		r.OutputTokens, r.OutputTokensSource = n, results.CountUsage
	} else if n := atLeast(1, a.timings.Output); n != nil {
		r.OutputTokens, r.OutputTokensSource = n, results.CountTimings
	} else if a.numbers {
		r.OutputTokensSource = results.CountNumbers
	} else if len(a.kinds) > 0 && !a.whole {
		r.OutputTokens, r.OutputTokensSource = atLeast(0, a.tokens()), results.CountChunks
	} else {
		r.OutputTokensSource = results.CountNone
	}
}

// atLeast returns the first count that is not below limit, nil if none is.
func atLeast(limit int, counts ...int) *int {
	for _, n := range counts {
		if n >= limit {
			return &n
		}
	}
	return nil
}

// toolCalls judges the calls of an answer by the tools that its request offered.
func (a *answer) toolCalls(tools *toolcall.Set, keepText bool) *results.ToolCalls {
	out := &results.ToolCalls{}
	for _, call := range a.calls.List() {
		out.N++
		if keepText {
			out.Calls = append(out.Calls, results.ToolCall(call))
		}
		problem := tools.Problem(call)
		if problem == "" {
			continue
		}
		if out.Invalid++; out.Problem == "" {
			out.Problem = event.Cut(problem, wordsKept)
			if a.finish == "length" {
				out.Problem += " (the answer was cut at its limit)"
			}
		}
	}
	return out
}

// hash is that of the answer's text, of calls where it has no text; "" for an
// answer of neither.
func (a *answer) hash() string {
	said := a.text
	if len(said) == 0 && a.calls.Bytes() > 0 {
		said, _ = json.Marshal(a.calls.List()) // strings can always be encoded
	}
	if len(said) == 0 {
		return ""
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:])
}
