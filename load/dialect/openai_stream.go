package dialect

import (
	"bytes"
	"errors"
)

var errNotJSON = errors.New("not JSON")

// OpenAIStream reads the events of OpenAI-style streams, of both APIs: text
// is in choices[].text or in choices[].delta.content. It knows vLLM's,
// llama-server's and Ollama's additions. What it does not understand goes to
// encoding/json (parseSlow), which gives the same chunk.
type OpenAIStream struct{}

// Parse fills c from the data of one event.
func (OpenAIStream) Parse(data []byte, c *Chunk) error { return ParseOpenAI(data, c) }

// ParseOpenAI fills c from the data of one event of an OpenAI-style stream.
func ParseOpenAI(data []byte, c *Chunk) error {
	if !c.begin(data) {
		return nil
	}
	if parseFast(data, c) {
		return nil
	}
	c.reset()
	return parseSlow(data, c)
}

// parseWhole fills c from an answer that is not streamed.
func (OpenAIStream) parseWhole(data []byte, c *Chunk) error {
	c.reset()
	return parseNamed(data, c, "message")
}

// isDone recognizes the end mark of OpenAI-style streams.
func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// Bits of the members met so far in one object: a name that comes twice is
// left to encoding/json.
type memberSet uint16

// first marks member bit and reports whether it is its first occurrence.
func (m *memberSet) first(s *scanner, bit memberSet) bool {
	if *m&bit != 0 {
		s.failed = true
		return false
	}
	*m |= bit
	return true
}

// parseFast reports false where it cannot be sure of the meaning.
func parseFast(data []byte, c *Chunk) bool {
	s := scanner{b: data}
	if !s.enter('{') {
		return false
	}

	var seen memberSet
	var message []byte // value of "message", which is an error beside "object":"error"
	isError := false
	n := 0
	for s.more(&n, '}') {
		switch string(s.key()) {
		case "choices":
			if seen.first(&s, 1) {
				scanChoices(&s, c)
			}
		case "usage":
			if seen.first(&s, 2) {
				null := s.space() == 'n'
				scanUsage(&s, &c.Usage)
				c.Odd = c.Odd || !null && c.Usage.Input < 0 && c.Usage.Output < 0
			}
		case "timings":
			if seen.first(&s, 4) {
				scanTimings(&s, &c.Timings, &c.Drafts)
			}
		case "error":
			if seen.first(&s, 8) {
				c.Fault = FaultValue(scanRaw(&s))
			}
		case "object":
			if seen.first(&s, 16) {
				isError = string(scanRaw(&s)) == `"error"`
			}
		case "message":
			if seen.first(&s, 32) {
				message = FaultValue(scanRaw(&s))
			}
		default:
			s.skip(1)
		}
	}

	if c.Fault == nil && isError {
		c.Fault = message
	}

	return !s.failed && s.atEnd()
}

// scanRaw returns the text of the next value.
func scanRaw(s *scanner) []byte {
	s.space()
	start := s.i
	s.skip(1)
	if s.failed {
		return nil
	}
	return s.b[start:s.i]
}

// FaultValue returns raw unless it says that there is no error.
func FaultValue(raw []byte) []byte {
	switch string(raw) {
	case "", "null", "false", `""`:
		return nil
	}
	return raw
}

func scanChoices(s *scanner, c *Chunk) {
	if !s.enter('[') {
		c.Odd = true
		s.skip(1)
		return
	}
	n := 0
	for s.more(&n, ']') {
		c.Odd = c.Odd || c.Choices // a second one
		c.Choices = true
		scanChoice(s, c)
	}
}

func scanChoice(s *scanner, c *Chunk) {
	if !s.enter('{') {
		c.Odd = true
		s.skip(2)
		return
	}

	var seen memberSet
	var text rawText
	n := 0
	for s.more(&n, '}') {
		switch string(s.key()) {
		case "text":
			if seen.first(s, 1) {
				text = scanText(s)
				c.HasText, c.Odd = true, c.Odd || text.other
			}
		case "delta":
			if seen.first(s, 2) {
				scanDelta(s, c)
			}
		case "finish_reason":
			if seen.first(s, 4) {
				if finish := scanText(s); len(finish.raw) > 0 {
					s.failed = s.failed || finish.escaped
					c.Finish = finish.raw
				}
			}
		default:
			s.skip(3)
		}
	}

	c.Content = text.appendTo(c.Content)
	c.note(text)
}

func scanDelta(s *scanner, c *Chunk) {
	if !s.enter('{') {
		s.skip(3)
		return
	}
	c.HasDelta = true

	var seen memberSet
	var content, reasoning, alias rawText
	n := 0
	for s.more(&n, '}') {
		switch string(s.key()) {
		case "content":
			if seen.first(s, 1) {
				content = scanText(s)
				c.Odd = c.Odd || content.other
			}
		case "reasoning_content":
			if seen.first(s, 2) {
				reasoning = scanText(s)
			}
		case "reasoning":
			if seen.first(s, 4) {
				alias = scanText(s)
			}
		case "role":
			if seen.first(s, 8) && len(scanText(s).raw) > 0 {
				c.role = true
			}
		case "tool_calls":
			if !seen.first(s, 16) {
				break
			}
			if calls := scanRaw(s); isFilled(calls, '[') {
				c.tool, c.Calls = true, chatCalls(c.Calls, calls)
			}
		case "function_call":
			if seen.first(s, 32) && isFilled(scanRaw(s), '{') {
				c.tool = true
			}
		default:
			s.skip(4)
		}
	}

	if len(reasoning.raw) == 0 {
		reasoning = alias // the same text under its newer name
	}

	c.Reasoning = reasoning.appendTo(c.Reasoning)
	c.Content = content.appendTo(c.Content)
	c.note(reasoning)
	c.note(content)
}

// isFilled reports whether raw is a JSON value that begins with open and is
// not empty.
func isFilled(raw []byte, open byte) bool {
	return len(raw) > 2 && raw[0] == open && len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
}

// rawText is a JSON string before its escapes are resolved.
type rawText struct {
	raw     []byte
	escaped bool
	other   bool // neither a string nor null
	end     int  // of raw in the event
}

// scanText reads a string; other values are skipped and give no text.
func scanText(s *scanner) rawText {
	if begin := s.space(); begin != '"' {
		s.skip(4)
		return rawText{other: begin != 'n'}
	}
	raw, escaped := s.str()
	return rawText{raw: raw, escaped: escaped, end: s.i - 1}
}

func (t rawText) appendTo(dst []byte) []byte {
	if t.escaped {
		return appendUnquoted(dst, t.raw)
	}
	return append(dst, t.raw...)
}

func scanUsage(s *scanner, u *TokenCounts) {
	if !s.enter('{') {
		s.skip(1)
		return
	}

	var seen memberSet
	n := 0
	for s.more(&n, '}') {
		switch string(s.key()) {
		case "prompt_tokens":
			if seen.first(s, 1) {
				u.Input = s.count()
			}
		case "completion_tokens":
			if seen.first(s, 2) {
				u.Output = s.count()
			}
		case "prompt_tokens_details":
			if seen.first(s, 4) {
				scanCached(s, u)
			}
		default:
			s.skip(2)
		}
	}
}

func scanCached(s *scanner, u *TokenCounts) {
	if !s.enter('{') {
		s.skip(2)
		return
	}

	var seen memberSet
	n := 0
	for s.more(&n, '}') {
		if string(s.key()) == "cached_tokens" {
			if seen.first(s, 1) {
				u.Cached = s.count()
			}
			continue
		}
		s.skip(3)
	}
}

// scanTimings reads llama-server's counts: prompt_n leaves out the tokens that
// came from the prompt cache.
func scanTimings(s *scanner, t *TokenCounts, d *DraftCounts) {
	if !s.enter('{') {
		s.skip(1)
		return
	}

	var seen memberSet
	prompt := -1
	n := 0
	for s.more(&n, '}') {
		switch string(s.key()) {
		case "prompt_n":
			if seen.first(s, 1) {
				prompt = s.count()
			}
		case "cache_n":
			if seen.first(s, 2) {
				t.Cached = s.count()
			}
		case "predicted_n":
			if seen.first(s, 4) {
				t.Output = s.count()
			}
		case "draft_n":
			if seen.first(s, 8) {
				d.Tokens = max(s.count(), 0)
			}
		case "draft_n_accepted":
			if seen.first(s, 16) {
				d.Accepted = max(s.count(), 0)
			}
		default:
			s.skip(2)
		}
	}

	t.Input = promptLength(prompt, t.Cached)
}

func promptLength(fresh, cached int) int {
	if fresh < 0 {
		return -1
	}
	return fresh + max(cached, 0)
}
