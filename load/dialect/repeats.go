package dialect

import "bytes"

// longestRepeat is the size in bytes up to which an event is kept for comparison.
const longestRepeat = 4 << 10

// Repeats reads the events of a stream. Most of them are those before them with another
// text: such an event is known by its bytes around the text, without a walk through its
// JSON. The zero value has seen no event.
type Repeats struct {
	event     []byte // the latest event with nothing but a text; empty: none
	text      span   // of it
	reasoning bool   // the text is reasoning, else content
	hasText   bool   // as Chunk's
	hasDelta  bool
}

// span is a part of an event, up to but without end.
type span struct{ start, end int }

// Parse fills c as parse would, which is always the same function.
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

// textOf is the text of an event that is otherwise the one kept, as it is in the
// event; empty: it is not.
func (r *Repeats) textOf(data []byte) (text []byte, escaped bool) {
	before, after := r.event[:r.text.start], r.event[r.text.end:]
	if len(before) == 0 || len(data) <= len(before)+len(after) ||
		!bytes.Equal(data[:len(before)], before) || !bytes.Equal(data[len(data)-len(after):], after) {
		return nil, false
	}

	text = data[len(before) : len(data)-len(after)]
	for i := plainLen(text); i < len(text); i += plainLen(text[i:]) {
		n := escapeLen(text[i:])
		if n == 0 {
			return nil, false // the string ends earlier, or is not valid
		}
		escaped = true
		i += n
	}

	return text, escaped
}

func (r *Repeats) fill(c *Chunk, text rawText) {
	c.reset()
	c.Choices, c.HasText, c.HasDelta = true, r.hasText, r.hasDelta
	if r.reasoning {
		c.Reasoning = text.appendTo(c.Reasoning)
		return
	}
	c.Content = text.appendTo(c.Content)
}

// note notes where in the event a text stands.
func (c *Chunk) note(t rawText) {
	if len(t.raw) > 0 {
		c.texts, c.text = c.texts+1, span{t.end - len(t.raw), t.end}
	}
}

// isText reports whether the event of c says nothing but one text, whose place is known.
func (c *Chunk) isText() bool {
	return c.texts == 1 && c.Choices && !c.Odd && !c.role && !c.tool && len(c.Finish) == 0 && c.Fault == nil &&
		c.Usage == NoCounts && c.Timings == NoCounts && c.Drafts == DraftCounts{}
}
