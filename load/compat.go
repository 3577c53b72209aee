package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/wire/sse"
	"github.com/benchrig/bench/results"
)

// compatReader follows what the parsers of vLLM's clients would make of the
// reads of one stream. As long as every read is a row of plain events, cut only
// where no parser minds, they all read what bench reads, and only a few bytes of
// each read are compared. From a read on that is not, the parsers run on the raw
// bytes, until they stand again where the answer does.
//
// It is between the transport and the event reader.
type compatReader struct {
	src    sse.StampedReader
	answer *answer

	chat    bool           // the API, else completions
	usage   bool           // an event of usage has come
	parsers []clientParser // nil: plain so far
	inRead  bool           // they began within a read, whose other events are still to come
	odd     bool           // an event of pending is read otherwise than its read shows
	pending []byte         // one read of the network, as far as it has come
	tail    bool           // pending is only the end of its read: the start of an event after plain ones
	full    bool           // pending ended because our buffer was full
	last    time.Duration  // stamp of pending
	base    answerMark     // where the answer stood before it
	resumed int            // times that the parsers were compared with the answer

	retimed [3][]retiming // by parser
}

// retiming is a chunk that a parser found at another time than the answer.
type retiming struct {
	chunk int
	at    float64 // seconds
}

// answerMark is how far an answer had come.
type answerMark struct {
	chunks, text int
	said         int               // bytes of the text without reasoning
	usage        event.TokenCounts // of a usage event
	doneS        *float64
}

// pendingMax limits what is joined of reads that filled their buffer, as
// asyncio's own buffer does.
const pendingMax = 256 << 10

// resumedMax bounds how often parsers are dropped and started again.
const resumedMax = 1 << 20

// tap is src with c looking on at what a reads of it, for the APIs that vLLM's
// client speaks; for others it is src.
func (c *compatReader) tap(src sse.StampedReader, a *answer, api dialect.API) sse.StampedReader {
	if !api.IsOpenAI() {
		*c = compatReader{}
		return src
	}
	*c = compatReader{src: src, answer: a, chat: api.Name == "chat"}
	return c
}

// ReadStamped reads from the source and looks at what came.
func (c *compatReader) ReadStamped(p []byte) (int, time.Duration, error) {
	n, at, err := c.src.ReadStamped(p)
	if n > 0 {
		c.read(p[:n], n == len(p), at)
	}
	return n, at, err
}

// read looks at what one call of the source brought. What is not plain waits
// until the next call shows where the read of the network ended.
func (c *compatReader) read(p []byte, full bool, at time.Duration) {
	c.inRead = false
	joined := (c.full || at == c.last) && len(c.pending) < pendingMax
	if len(c.pending) > 0 && (!c.tail || c.parsers != nil) {
		if c.tail = false; joined {
			c.hold(p, full, at)
			return
		}
		c.flush()
		c.resume()
		joined = false
	}

	if c.tail {
		if c.continues(p, joined) {
			c.hold(p, full, at)
			return
		}
		c.tail, c.base = false, c.mark()
		if rest, ok := c.completed(p, joined); ok {
			c.holdTail(rest, full, at)
			return
		}
		if joined {
			c.hold(p, full, at)
			return
		}
		c.flush()
	}

	if c.parsers == nil && !c.answer.closed() {
		if rest, ok := plainStart(p); ok {
			c.holdTail(rest, full, at)
			return
		}
	}
	c.base = c.mark()
	c.hold(p, full, at)
}

// holdTail holds rest, what p leaves after plain events, alone.
func (c *compatReader) holdTail(rest []byte, full bool, at time.Duration) {
	c.pending, c.tail = c.pending[:0], len(rest) > 0
	c.hold(rest, full, at)
}

// continuationMax bounds the start of an event that each further piece is looked at with, in bytes.
const continuationMax = 4 << 10

// continues reports whether p continues with the event that pending begins, does not end it, and is
// read by every parser as bench reads it.
func (c *compatReader) continues(p []byte, joined bool) bool {
	if c.answer.closed() || len(c.pending)+len(p) > continuationMax || bytes.IndexByte(p, '\n') >= 0 ||
		!joined && !harmlessCut(c.pending, p) {
		return false
	}
	begun := len(c.pending)
	c.pending = append(c.pending, p...)
	plain := plainTail(c.pending)
	c.pending = c.pending[:begun]
	return plain
}

// completed reports whether p continues with the event that pending begins, and with plain
// events, so that every parser reads them as bench does. rest is the start of one more.
func (c *compatReader) completed(p []byte, joined bool) (rest []byte, ok bool) {
	if c.answer.closed() || !joined && !harmlessCut(c.pending, p) {
		return nil, false
	}

	const end = "\n\n"
	n := bytes.Index(p, []byte(end)) + len(end)
	if c.pending[len(c.pending)-1] == '\n' && p[0] == '\n' {
		n = 1
	} else if n < len(end) {
		return nil, false
	}

	begun := len(c.pending)
	c.pending = append(c.pending, p[:n]...)
	whole := plainEvents(c.pending)
	c.pending = c.pending[:begun]
	if !whole {
		return nil, false
	}
	return plainStart(p[n:])
}

func (c *compatReader) hold(p []byte, full bool, at time.Duration) {
	c.pending, c.full, c.last = append(c.pending, p...), full, at
}

// flush takes in what was held, as one read of the network.
func (c *compatReader) flush() {
	if c.parsers != nil || c.odd || c.answer.closed() || !plainEvents(c.pending) {
		c.start()
		for _, parser := range c.parsers {
			parser.read(c.pending, c.last)
		}
	}
	c.pending, c.odd = c.pending[:0], false
}

// resume drops the parsers if they agree with the answer, whatever the times at which
// they found its chunks.
func (c *compatReader) resume() {
	if c.parsers == nil || c.resumed == resumedMax || c.answer.closed() {
		return
	}
	tail, ok := c.parsers[0].rest()
	for _, parser := range c.parsers[1:] {
		other, whole := parser.rest()
		ok = ok && whole && bytes.Equal(tail, other)
	}
	if !ok || len(tail) > 0 && !plainTail(tail) {
		return
	}

	c.resumed++
	for _, parser := range c.parsers {
		if !parser.yield().agrees(c.answer) {
			return
		}
	}
	for i, parser := range c.parsers {
		c.retimed[i] = parser.yield().retimings(c.answer)
	}
	c.parsers, c.tail = nil, len(tail) > 0
	c.pending = append(c.pending, tail...)
}

// plainStart takes whole plain events from the start of p. It reports whether nothing is
// left, or the start of an event that may become one.
func plainStart(p []byte) (rest []byte, ok bool) {
	end := 0
	if i := bytes.LastIndex(p, []byte("\n\n")); i >= 0 {
		end = i + 2
	}
	rest = p[end:]
	return rest, plainEvents(p[:end]) && (len(rest) == 0 || plainTail(rest))
}

// plainTail reports whether p may be the start of a plain event.
func plainTail(p []byte) bool {
	const field = "data: "
	n := min(len(p), len(field))
	line := bytes.IndexByte(p, '\n')
	return string(p[:n]) == field[:n] && (line < 0 || line == len(p)-1) && bytes.IndexByte(p, '\r') < 0 &&
		len(p) < longestLine && utf8.Valid(p[:wholeRunes(p)])
}

// harmlessCut reports whether a parser that is given an event in two reads, of which the
// first ends with begun, reads what it does of one: it strips reads of blanks, and takes
// what happens to be whole JSON for an event.
func harmlessCut(begun, next []byte) bool {
	const object = "data: {"
	n, last := min(len(begun), len(object)), begun[len(begun)-1]
	return string(begun[:n]) == object[:n] &&
		last != '}' && strings.IndexByte(blanks, last) < 0 && strings.IndexByte(blanks, next[0]) < 0
}

// plainEvents reports whether every parser cuts p as bench does: valid UTF-8, events
// of one data line each, not too long, a blank after the colon, ended by two
// newlines.
func plainEvents(p []byte) bool {
	const field, end = "data: ", "\n\n"
	if bytes.IndexByte(p, '\r') >= 0 {
		return false
	}
	if !utf8.Valid(p) {
		return false
	}
	for len(p) > 0 {
		line := bytes.IndexByte(p, '\n')
		if line <= len(field) || line >= longestLine || string(p[:len(field)]) != field || len(p) < line+len(end) ||
			p[line+1] != '\n' {
			return false
		}
		p = p[line+len(end):]
	}
	return true
}

// look is called for each event before the answer takes it in: as which chunk,
// and whether that is garbage; last says that nothing of its read is left
// behind it. Once an event was read otherwise, the parsers need the others of
// its read too.
func (c *compatReader) look(data []byte, chunk *event.Chunk, garbage bool, at time.Duration, last bool) {
	if c.answer == nil {
		return
	}
	odd := garbage || c.unusual(chunk)
	c.usage = c.usage || !chunk.Choices && chunk.Usage != event.NoCounts
	switch {
	case !odd && !c.inRead, c.parsers != nil && !c.inRead:
	case len(c.pending) > 0 && !c.tail:
		c.odd = true
	default:
		c.event(data, at, last)
	}
}

// unusual reports whether those clients may read a chunk otherwise: another
// choice than the first, members of other types, the other API's members, counts
// of 0, counts in several events or under another name than usage.
func (c *compatReader) unusual(chunk *event.Chunk) bool {
	switch {
	case chunk.Done:
		return false
	case chunk.Odd, chunk.Choices && (chunk.HasDelta != c.chat || chunk.HasText == c.chat):
		return true
	case chunk.Choices:
		return c.usage && chunk.Usage != event.NoCounts
	case chunk.Usage == event.NoCounts:
		return chunk.Timings != event.NoCounts
	}
	return c.usage || chunk.Usage.Input <= 0 || chunk.Usage.Output <= 0
}

// after is called for the events after the end mark or an error, which the
// clients go on to read.
func (c *compatReader) after(data []byte, at time.Duration, last bool) {
	if c.answer != nil && (len(c.pending) == 0 || c.tail) && (c.parsers == nil || c.inRead) {
		c.event(data, at, last)
	}
}

func (c *compatReader) event(data []byte, at time.Duration, last bool) {
	if c.parsers == nil {
		c.base = c.mark()
		c.start()
		c.inRead = true
	}
	raw := append([]byte("data: "), data...)
	if !last {
		raw = append(raw, "\n\ndata: "...) // more follows: the read does not end here
	}
	for _, parser := range c.parsers {
		parser.event(slices.Clip(raw), at, last)
	}
}

// mark notes how far the answer has come.
func (c *compatReader) mark() answerMark {
	a := c.answer
	m := answerMark{chunks: len(a.chunkS), text: len(a.text), said: len(a.text), usage: event.NoCounts}
	if a.keepContent {
		m.said = len(a.content)
	}
	if bytes.IndexByte(a.kinds, byte(results.ChunkUsage)) >= 0 {
		m.usage = a.usage
	}
	if a.doneAt > 0 {
		m.doneS = new(a.doneAt.Seconds())
	}
	return m
}

// start starts the parsers where the answer stood at base.
func (c *compatReader) start() {
	if c.parsers != nil {
		return
	}
	at := func(i int) clientYield {
		return clientYield{
			chat: c.chat, base: c.base, retimed: c.retimed[i], usage: c.base.usage, doneS: c.base.doneS,
		}
	}
	c.parsers = []clientParser{
		&blockParser{clientYield: at(0)},
		&lineParser{clientYield: at(1), skipComments: true},
		&lineParser{clientYield: at(2)},
	}
}

// readings are the readings that differ from the answer, which is complete;
// err is how the stream ended, status that of the answer: those clients read
// 200 alone. Where judged, the answer counts as no stream of the API, which is not
// for them to find.
func (c *compatReader) readings(err error, status int, judged bool) map[results.Generation]results.ClientReading {
	if c.answer == nil {
		return nil
	}
	if c.tail && c.parsers == nil {
		c.base = c.mark()
	}
	if len(c.pending) > 0 {
		c.flush()
	}

	if status != http.StatusOK {
		all := make(map[results.Generation]results.ClientReading)
		for _, g := range []results.Generation{results.VLLM, results.VLLM010, results.VLLM06} {
			all[g] = results.ClientReading{ChunkS: []float64{}, Error: fmt.Sprintf("status %d", status)}
		}
		return all
	}

	cutAfterEnd := c.answer.done && errors.Is(err, io.ErrUnexpectedEOF)
	retimed := slices.ContainsFunc(c.retimed[:], func(r []retiming) bool { return len(r) > 0 })
	if c.parsers == nil && !retimed && !cutAfterEnd && !judged {
		return nil
	}
	if c.parsers == nil {
		c.base = c.mark()
		c.start()
	}

	var all map[results.Generation]results.ClientReading
	for i, g := range []results.Generation{results.VLLM, results.VLLM010, results.VLLM06} {
		parser := c.parsers[i]
		y := parser.finish(c.last)
		if y.failed == "" && !errors.Is(err, io.EOF) && (cutAfterEnd || !c.answer.done) {
			y.failed = err.Error()
		}
		if !judged && y.same(c.answer) {
			continue
		}
		if all == nil {
			all = make(map[results.Generation]results.ClientReading)
		}
		all[g] = y.reading(c.answer)
	}

	return all
}

// closed reports whether the answer takes in no more events.
func (a *answer) closed() bool { return a.done || a.fault != nil }
