package event

import (
	"bytes"

	"github.com/benchrig/bench/load/dialect/rawjson"
)

// longestRepeat is the size in bytes up to which an event is kept for comparison.
const longestRepeat = 4 << 10

// Repeats reads the events of a stream. Most events equal the one before but for their
// text: such an event is recognized by comparing the bytes around the text, without a
// walk through its JSON. The zero value has seen no event.
type Repeats struct {
	event     []byte // the latest event with nothing but a text; empty: none
	text      span   // of it
	reasoning bool   // the text is reasoning, else content
	hasText   bool   // as Chunk's
	hasDelta  bool
}

// span is a part of an event, up to but without end.
type span struct{ start, end int }

// Parse fills c as parse would. All calls must give the same parse.
func (r *Repeats) Parse(data []byte, c *Chunk, parse func([]byte, *Chunk) error) error {
	if text, escaped := r.textOf(data); len(text) > 0 {
		r.fill(c, rawText{raw: text, escaped: escaped})
		return nil
	}
	err := parse(data, c)
	if err == nil && c.isText() && len(data) <= longestRepeat {
		r.event = append(r.event[:0], data...)
		r.text, r.reasoning, r.hasText, r.hasDelta = c.text, len(c.Reasoning) > 0, c.HasText, c.HasDelta
	}
	return err
}

// textOf returns the text of an event that is the kept one but for its text, with
// its escapes; empty: the event differs in more.
func (r *Repeats) textOf(data []byte) (text []byte, escaped bool) {
	before, after := r.event[:r.text.start], r.event[r.text.end:]
	if len(before) == 0 || len(data) <= len(before)+len(after) ||
		!bytes.Equal(data[:len(before)], before) || !bytes.Equal(data[len(data)-len(after):], after) {
		return nil, false
	}

	text = data[len(before) : len(data)-len(after)]
	for i := rawjson.PlainLen(text); i < len(text); i += rawjson.PlainLen(text[i:]) {
		n := rawjson.EscapeLen(text[i:])
		if n == 0 {
			return nil, false // the string ends earlier, or is not valid
		}
		escaped = true
		i += n
	}

	return text, escaped
}

func (r *Repeats) fill(c *Chunk, text rawText) {
	c.Reset()
	c.Choices, c.HasText, c.HasDelta = true, r.hasText, r.hasDelta
	if r.reasoning {
		c.Reasoning = text.appendTo(c.Reasoning)
		return
	}
	c.Content = text.appendTo(c.Content)
}

// note counts a text and notes where in the event it stands.
func (c *Chunk) note(t rawText) {
	if len(t.raw) > 0 {
		c.texts, c.text = c.texts+1, span{t.end - len(t.raw), t.end}
	}
}

// isText reports whether the event carried nothing but one text, whose place is known.
func (c *Chunk) isText() bool {
	return c.texts == 1 && c.Choices && !c.Odd && !c.Role && !c.Tool && len(c.Finish) == 0 && c.Fault == nil &&
		c.Usage == NoCounts && c.Timings == NoCounts && c.Drafts == DraftCounts{}
}
