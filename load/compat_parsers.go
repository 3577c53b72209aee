package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/benchrig/bench/load/dialect/event"
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
	// rest is the start of a message that is not whole; false: not all of it is known.
	rest() ([]byte, bool)
	// yield is what was read so far.
	yield() *clientYield
}

// blanks are what Python strips of bytes.
const blanks = " \t\n\r\v\f"

// blockParser is the parser of September 2025 and later: each read is stripped
// and appended to a buffer; two newlines end a message, and so does a rest that
// happens to be a whole one.
type blockParser struct {
	clientYield

	buffer []byte
	split  []byte // the start of a character that a read ended in
}

func (b *blockParser) read(p []byte, at time.Duration) {
	p = bytes.Trim(p, blanks)
	if len(p) == 0 || b.failed != "" {
		return
	}
	if p = b.decode(p); b.failed != "" {
		return
	}
	from := max(len(b.buffer)-1, 0) // a message may end across two reads
	b.buffer = append(b.buffer, p...)
	b.cutMessages(from, at)
	b.takeRest(at)
}

// decode returns the whole characters of a read, as Python's incremental
// decoder does: a broken one is an exception.
func (b *blockParser) decode(p []byte) []byte {
	p = append(b.split, p...)
	whole := wholeRunes(p)
	if !utf8.Valid(p[:whole]) {
		b.failed = notUTF8
		return nil
	}
	b.split = slices.Clone(p[whole:])
	return p[:whole]
}

// wholeRunes is the length of p without a character at its end that is only begun.
func wholeRunes(p []byte) int {
	for back := 1; back <= min(len(p), utf8.UTFMax-1); back++ {
		if tail := p[len(p)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return len(p) - back
			}
			break
		}
	}
	return len(p)
}

const notUTF8 = "not UTF-8"

func (b *blockParser) event(raw []byte, at time.Duration, last bool) {
	if last {
		b.read(raw, at)
		return
	}
	if raw = b.decode(raw); b.failed != "" {
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
	case string(content) == "[DONE]", mayEnd(content) && json.Valid(content):
		b.message(bytes.TrimSpace(b.buffer), at, true)
		b.buffer = b.buffer[:0]
	}
}

// mayEnd saves long rests a look: an object ends with a brace, and what else is
// JSON is short.
func mayEnd(content []byte) bool {
	const short = 256
	return content[len(content)-1] == '}' || len(content) < short
}

func (b *blockParser) rest() ([]byte, bool) { return b.buffer, len(b.split) == 0 }

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
		if len(l.buffer) > longestLine && l.failed == "" {
			l.failed = "a line is too long"
		}
		if !ended {
			return
		}
		l.line(at)
		p = rest
	}
}

// longestLine is what aiohttp reads of one line, in bytes.
const longestLine = 128 << 10

func (l *lineParser) event(raw []byte, at time.Duration, last bool) {
	l.read(raw, at)
	if last {
		l.line(at)
	}
	l.buffer = l.buffer[:0]
}

func (l *lineParser) line(at time.Duration) {
	switch message := bytes.Trim(l.buffer, blanks); {
	case len(message) == 0 || l.failed != "":
	case !utf8.Valid(message):
		l.failed = notUTF8
	default:
		l.message(message, at, l.skipComments)
	}
	l.buffer = l.buffer[:0]
}

func (l *lineParser) rest() ([]byte, bool) { return l.buffer, true }

func (l *lineParser) finish(at time.Duration) *clientYield {
	l.line(at) // the last line need not end
	return &l.clientYield
}

// clientYield is what a parser has made of a stream so far: up to base what the answer
// holds, which all read alike but for some times, and then its own.
type clientYield struct {
	chat    bool
	chunk   event.Chunk
	base    answerMark
	retimed []retiming // before base
	chunkS  []float64  // since base, as are kinds and texts
	kinds   []byte
	text    []byte            // reasoning and content
	said    []byte            // content alone
	usage   event.TokenCounts // of events without choices
	doneS   *float64
	failed  string // an exception ended the reading
}

func (y *clientYield) yield() *clientYield { return y }

// message takes in one message, stripped.
func (y *clientYield) message(message []byte, at time.Duration, skipComments bool) {
	if y.failed != "" || skipComments && message[0] == ':' {
		return
	}

	payload := bytes.TrimPrefix(message, []byte("data: "))
	c := &y.chunk
	err := event.ParseOpenAI(payload, c)
	switch {
	case err != nil:
		y.failed = fmt.Sprintf("not JSON: %q", event.Cut(string(payload), 80))
		return
	case string(payload) == "[DONE]":
		y.doneS = new(at.Seconds())
		return
	case c.Choices:
		c.Fault = nil // they look for choices only
	}

	kind := c.Kind()
	if !c.Choices || c.Odd || c.HasDelta != y.chat || c.HasText == y.chat {
		first := event.ReadFirst(payload, y.chat)
		if kind = y.first(first, kind, skipComments); y.failed != "" {
			return
		}
		c.Content = append(c.Content[:0], first.Text...)
	}
	y.chunkS, y.kinds = append(y.chunkS, at.Seconds()), append(y.kinds, byte(kind))
	y.text = append(append(y.text, c.Reasoning...), c.Content...)
	y.said = append(y.said, c.Content...)
}

// first takes in what those clients look at, and returns the kind of the chunk
// for them. before2025 is the client that needs a text and choices.
func (y *clientYield) first(f event.First, kind results.ChunkKind, since2025 bool) results.ChunkKind {
	switch {
	case f.Err != "" && (f.Choices || since2025), f.NoText && !since2025:
		y.failed = cmp.Or(f.Err, "the first choice has no text")
	case f.Choices && f.Text != "":
		return results.ChunkText
	case f.Choices && kind == results.ChunkText:
		return results.ChunkEmpty
	case f.Usage:
		if y.usage.Output = f.Output; f.Input >= 0 {
			y.usage.Input = f.Input
		}
		return results.ChunkUsage
	}
	return kind
}

// same reports whether the reading is that of the answer.
func (y *clientYield) same(a *answer) bool {
	return y.agrees(a) && len(y.retimed) == 0 && slices.Equal(y.chunkS, a.chunkS[y.base.chunks:])
}

// agrees reports whether the reading is that of the answer but for times of chunks.
func (y *clientYield) agrees(a *answer) bool {
	return y.failed == "" && bytes.Equal(y.kinds, a.kinds[y.base.chunks:]) && y.textIs(a) && y.doneAtIs(a) &&
		y.usageIs(a)
}

// retimings are the chunks whose times differ from those of the answer, with which the reading
// agrees.
func (y *clientYield) retimings(a *answer) []retiming {
	all := y.retimed
	for i, at := range y.chunkS {
		if chunk := y.base.chunks + i; at != a.chunkS[chunk] {
			all = append(all, retiming{chunk, at})
		}
	}
	return all
}

func (y *clientYield) textIs(a *answer) bool { return bytes.Equal(y.text, a.text[y.base.text:]) }

// usageIs compares the counts with those that follow from the record.
func (y *clientYield) usageIs(a *answer) bool {
	input, output := -1, -1
	if bytes.IndexByte(a.kinds, byte(results.ChunkUsage)) >= 0 {
		if n := atLeast(1, a.usage.Input, a.timings.Input); n != nil {
			input = *n
		}
		output = max(a.usage.Output, output)
	}
	return max(y.usage.Input, -1) == input && max(y.usage.Output, 0) == max(output, 0)
}

func (y *clientYield) doneAtIs(a *answer) bool {
	if y.doneS == nil || a.doneAt == 0 {
		return y.doneS == nil && a.doneAt == 0
	}
	return *y.doneS == a.doneAt.Seconds()
}

func (y *clientYield) reading(a *answer) results.ClientReading {
	said := a.text
	if a.keepContent {
		said = a.content
	}
	chunkS := append(append([]float64{}, a.chunkS[:y.base.chunks]...), y.chunkS...)
	for _, r := range y.retimed {
		chunkS[r.chunk] = r.at
	}
	return results.ClientReading{
		ChunkS:     chunkS,
		ChunkKinds: string(a.kinds[:y.base.chunks]) + string(y.kinds), DoneS: y.doneS,
		Text:        string(said[:y.base.said]) + string(y.said),
		InputTokens: atLeast(0, y.usage.Input), OutputTokens: atLeast(1, y.usage.Output),
		TextDiffers: !y.textIs(a), Error: y.failed,
	}
}
