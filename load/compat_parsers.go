package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/results"
)

// clientParser is the way in which a generation of vLLM's client cuts a stream
// into messages.
type clientParser interface {
	// read takes in one read of the network.
	read(p []byte, at time.Duration)
	// event takes in the text of a plain event from the middle of a read; last
	// says that the read ends with it.
	event(raw []byte, at time.Duration, last bool)
	// finish is called at the end of the stream.
	finish(at time.Duration) *clientYield
}

// blanks are what Python strips of bytes.
const blanks = " \t\n\r\v\f"

// blockParser is the parser of September 2025 and later: each read is stripped
// and appended to a buffer; two newlines end a message, and so does a rest that
// happens to be a whole one.
type blockParser struct {
	clientYield

	buffer []byte
}

func (b *blockParser) read(p []byte, at time.Duration) {
	p = bytes.Trim(p, blanks)
	if len(p) == 0 || b.failed != "" {
		return
	}
	from := max(len(b.buffer)-1, 0) // a message may end across two reads
	b.buffer = append(b.buffer, p...)
	b.cutMessages(from, at)
	b.takeRest(at)
}

func (b *blockParser) event(raw []byte, at time.Duration, last bool) {
	if last {
		b.read(raw, at)
		return
	}
	b.buffer = append(b.buffer, raw...)
	b.cutMessages(0, at)
	b.buffer = b.buffer[:0] // the start of the next event, which comes whole
}

// cutMessages takes the messages that two newlines end, the first of which is
// looked for at from.
func (b *blockParser) cutMessages(from int, at time.Duration) {
	start := 0
	for {
		end := bytes.Index(b.buffer[from:], []byte("\n\n"))
		if end < 0 {
			break
		}
		end += from
		if message := bytes.TrimSpace(b.buffer[start:end]); len(message) > 0 {
			b.message(message, at, true)
		}
		start = end + 2
		from = start
	}

	if start > 0 { // else a message as long as megabytes would be copied at each of its reads
		b.buffer = append(b.buffer[:0], b.buffer[start:]...)
	}
}

// takeRest takes what is left if it is a message, although nothing ended it.
func (b *blockParser) takeRest(at time.Duration) {
	content, ok := bytes.CutPrefix(b.buffer, []byte("data: "))
	content = bytes.TrimSpace(content)
	switch {
	case !ok && len(b.buffer) > 0 && b.buffer[0] == ':':
		b.buffer = append(b.buffer[:0], ':') // skipped as a comment once two newlines end it
	case !ok || len(content) == 0:
		return
	case string(content) == "[DONE]", content[len(content)-1] == '}' && json.Valid(content):
		b.message(bytes.TrimSpace(b.buffer), at, true)
		b.buffer = b.buffer[:0]
	}
}

func (b *blockParser) finish(time.Duration) *clientYield { return &b.clientYield }

// lineParser is the parser until September 2025: lines, stripped.
type lineParser struct {
	clientYield

	skipComments bool // since June 2025
	buffer       []byte
}

func (l *lineParser) read(p []byte, at time.Duration) {
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		l.buffer = append(l.buffer, line...)
		if !ended {
			return
		}
		l.line(at)
		p = rest
	}
}

func (l *lineParser) event(raw []byte, at time.Duration, last bool) {
	l.read(raw, at)
	if last {
		l.line(at)
	}
	l.buffer = l.buffer[:0]
}

func (l *lineParser) line(at time.Duration) {
	if message := bytes.Trim(l.buffer, blanks); len(message) > 0 {
		l.message(message, at, l.skipComments)
	}
	l.buffer = l.buffer[:0]
}

func (l *lineParser) finish(at time.Duration) *clientYield {
	l.line(at) // the last line need not end
	return &l.clientYield
}

// clientYield is what a parser has made of a stream so far.
type clientYield struct {
	chunk  dialect.Chunk
	chunkS []float64
	kinds  []byte
	text   []byte
	usage  dialect.TokenCounts // of events without choices
	doneS  *float64
	failed string // an exception ended the reading
}

// yieldOf starts from a part of an answer that all read alike.
func yieldOf(a *answer, m answerMark) clientYield {
	return clientYield{
		chunkS: slices.Clone(a.chunkS[:m.chunks]), kinds: slices.Clone(a.kinds[:m.chunks]), text: slices.Clone(a.text[:m.text]),
		usage: m.usage, doneS: m.doneS,
	}
}

// message takes in one message, stripped.
func (y *clientYield) message(message []byte, at time.Duration, skipComments bool) {
	if y.failed != "" || skipComments && message[0] == ':' {
		return
	}

	payload := bytes.TrimPrefix(message, []byte("data: "))
	c := &y.chunk
	err := dialect.ParseOpenAI(payload, c)
	switch {
	case err != nil:
		y.failed = fmt.Sprintf("not JSON: %q", dialect.Cut(string(payload), 80))
		return
	case string(payload) == "[DONE]":
		y.doneS = new(at.Seconds())
		return
	case c.Choices:
		c.Fault = nil // they look for choices only
	}

	kind := c.Kind()
	y.chunkS, y.kinds = append(y.chunkS, at.Seconds()), append(y.kinds, byte(kind))
	y.text = append(append(y.text, c.Reasoning...), c.Content...)
	if kind == results.ChunkUsage && c.Usage.Known() {
		y.usage = c.Usage
	}
}

// same reports whether the reading is that of the answer.
func (y *clientYield) same(a *answer) bool {
	return y.failed == "" && bytes.Equal(y.kinds, a.kinds) && slices.Equal(y.chunkS, a.chunkS) &&
		bytes.Equal(y.text, a.text) && y.doneAtIs(a)
}

func (y *clientYield) doneAtIs(a *answer) bool {
	if y.doneS == nil || a.doneAt == 0 {
		return y.doneS == nil && a.doneAt == 0
	}
	return *y.doneS == a.doneAt.Seconds()
}

func (y *clientYield) reading(a *answer) results.ClientReading {
	return results.ClientReading{
		ChunkS: y.chunkS, ChunkKinds: string(y.kinds), DoneS: y.doneS,
		InputTokens: atLeast(1, y.usage.Input), OutputTokens: atLeast(1, y.usage.Output),
		TextDiffers: !bytes.Equal(y.text, a.text), Error: y.failed,
	}
}
