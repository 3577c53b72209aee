package event

import (
	"encoding/json"

	"github.com/benchrig/bench/load/dialect/rawjson"
	"github.com/benchrig/bench/load/toolcall"
)

// ParseOpenAI fills c from the data of one event of an OpenAI-style stream, of
// completions or chat: text is in choices[].text or in choices[].delta.content.
// It knows what vLLM, llama-server and Ollama add. What it does not understand
// goes to encoding/json (parseSlow), which gives the same chunk.
func ParseOpenAI(data []byte, c *Chunk) error {
	if !c.Begin(data) {
		return nil
	}
	if parseFast(data, c) {
		return nil
	}
	c.Reset()
	return parseSlow(data, c)
}

// ParseOpenAIWhole fills c from an answer that is not streamed.
func ParseOpenAIWhole(data []byte, c *Chunk) error {
	c.Reset()
	return parseNamed(data, c, "message")
}

// Bits of the members met so far in one object: a name that comes twice is
// left to encoding/json.
type memberSet uint16

// first marks member bit and reports whether it is its first occurrence.
func (m *memberSet) first(s *rawjson.Scanner, bit memberSet) bool {
	if *m&bit != 0 {
		s.Fail()
		return false
	}
	*m |= bit
	return true
}

// parseFast reads an event in one walk. It returns false where it cannot be sure of
// the meaning; c is then half filled.
func parseFast(data []byte, c *Chunk) bool {
	s := rawjson.Scan(data)
	if !s.Enter('{') {
		return false
	}

	var seen memberSet
	var message []byte // value of "message", which is an error beside "object":"error"
	isError := false
	n := 0
	for s.More(&n, '}') {
		switch string(s.Key()) {
		case "choices":
			if seen.first(&s, 1) {
				scanChoices(&s, c)
			}
		case "usage":
			if seen.first(&s, 2) {
				null := s.Peek() == 'n'
				scanUsage(&s, &c.Usage)
				c.Odd = c.Odd || !null && (c.Usage.Input < 0 || c.Usage.Output < 0)
			}
		case "timings":
			if seen.first(&s, 4) {
				ReadTimings(s.Raw(), c)
			}
		case "error":
			if seen.first(&s, 8) {
				c.Fault = FaultValue(s.Raw())
			}
		case "object":
			if seen.first(&s, 16) {
				isError = string(s.Raw()) == `"error"`
			}
		case "message":
			if seen.first(&s, 32) {
				message = FaultValue(s.Raw())
			}
		default:
			s.Skip()
		}
	}

	if c.Fault == nil && isError {
		c.Fault = message
	}

	return s.Complete()
}

func scanChoices(s *rawjson.Scanner, c *Chunk) {
	if !s.Enter('[') {
		c.Odd = true
		s.Skip()
		return
	}
	n := 0
	for s.More(&n, ']') {
		c.Odd = c.Odd || c.Choices // a second one
		c.Choices = true
		scanChoice(s, c)
	}
}

func scanChoice(s *rawjson.Scanner, c *Chunk) {
	if !s.Enter('{') {
		c.Odd = true
		s.Skip()
		return
	}

	var seen memberSet
	var text rawText
	n := 0
	for s.More(&n, '}') {
		switch string(s.Key()) {
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
				finish := scanText(s)
				if finish.escaped {
					s.Fail()
				}
				if len(finish.raw) > 0 {
					c.Finish = finish.raw
				}
			}
		default:
			s.Skip()
		}
	}

	c.Content = text.appendTo(c.Content)
	c.note(text)
}

func scanDelta(s *rawjson.Scanner, c *Chunk) {
	if !s.Enter('{') {
		s.Skip()
		return
	}
	c.HasDelta = true

	var seen memberSet
	var content, reasoning, alias rawText
	n := 0
	for s.More(&n, '}') {
		switch string(s.Key()) {
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
				c.Role = true
			}
		case "tool_calls":
			if !seen.first(s, 16) {
				break
			}
			if calls := s.Raw(); rawjson.IsFilled(calls, '[') {
				c.Tool, c.Calls = true, toolcall.AppendPieces(c.Calls, calls)
			}
		case "function_call":
			if seen.first(s, 32) && rawjson.IsFilled(s.Raw(), '{') {
				c.Tool = true
			}
		default:
			s.Skip()
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

// rawText is a JSON string before its escapes are resolved.
type rawText struct {
	raw     []byte
	escaped bool
	other   bool // neither a string nor null
	end     int  // of raw in the event
}

// scanText reads a string; other values are skipped and give no text.
func scanText(s *rawjson.Scanner) rawText {
	if begin := s.Peek(); begin != '"' {
		s.Skip()
		return rawText{other: begin != 'n'}
	}
	raw, escaped := s.Str()
	return rawText{raw: raw, escaped: escaped, end: s.Pos() - 1}
}

func (t rawText) appendTo(dst []byte) []byte {
	if t.escaped {
		return rawjson.AppendUnquoted(dst, t.raw)
	}
	return append(dst, t.raw...)
}

// parseSlow is parseFast by encoding/json, for what parseFast leaves to it: names
// that come twice, escapes in finish reasons, deep nesting, bad syntax.
func parseSlow(data []byte, c *Chunk) error { return parseNamed(data, c, "delta") }

// parseNamed reads an event or a whole answer. delta names the member of a
// choice that holds a message, or a piece of one.
func parseNamed(data []byte, c *Chunk, delta string) error {
	if !json.Valid(data) {
		return rawjson.ErrNotJSON
	}
	c.Odd = true // rare enough to be looked at twice
	top := rawjson.Object(data)
	for _, raw := range rawjson.Array(top["choices"]) {
		c.Choices = true
		slowChoice(rawjson.Object(raw), delta, c)
	}
	usage := rawjson.Scan(top["usage"])
	scanUsage(&usage, &c.Usage)
	ReadTimings(top["timings"], c)
	c.Fault = FaultValue(top["error"])
	if c.Fault == nil && string(top["object"]) == `"error"` {
		c.Fault = FaultValue(top["message"])
	}

	return nil
}

func slowChoice(choice map[string]json.RawMessage, name string, c *Chunk) {
	delta := rawjson.Object(choice[name])
	reasoning := rawjson.Text(delta["reasoning_content"])
	if reasoning == "" {
		reasoning = rawjson.Text(delta["reasoning"])
	}
	c.Reasoning = append(c.Reasoning, reasoning...)
	c.Content = append(c.Content, rawjson.Text(delta["content"])...)
	c.Content = append(c.Content, rawjson.Text(choice["text"])...)
	c.Role = c.Role || rawjson.Text(delta["role"]) != ""
	c.Tool = c.Tool || rawjson.IsFilled(delta["tool_calls"], '[') || rawjson.IsFilled(delta["function_call"], '{')
	c.Calls = toolcall.AppendPieces(c.Calls, delta["tool_calls"])
	if finish := rawjson.Text(choice["finish_reason"]); finish != "" {
		c.Finish = []byte(finish)
	}
}

// scanUsage reads the counts of OpenAI's APIs.
func scanUsage(s *rawjson.Scanner, u *TokenCounts) {
	if !s.Enter('{') {
		s.Skip()
		return
	}

	n := 0
	for s.More(&n, '}') {
		switch string(s.Key()) {
		case "prompt_tokens":
			u.Input = s.Count()
		case "completion_tokens":
			u.Output = s.Count()
		case "prompt_tokens_details":
			u.Cached = -1
			ReadCached(s.Raw(), u)
		default:
			s.Skip()
		}
	}
}

// ReadCached reads how many tokens of the prompt came from the prefix cache, out
// of the details of its count.
func ReadCached(raw []byte, u *TokenCounts) {
	rawjson.Inside(raw, func(name, value []byte) {
		if string(name) == "cached_tokens" {
			u.Cached = rawjson.Count(value)
		}
	})
}

// ReadTimings reads llama-server's counts: prompt_n leaves out the tokens that
// came from the prompt cache.
func ReadTimings(raw []byte, c *Chunk) {
	fresh := -1
	rawjson.Inside(raw, func(name, value []byte) {
		switch string(name) {
		case "prompt_n":
			fresh = rawjson.Count(value)
		case "cache_n":
			c.Timings.Cached = rawjson.Count(value)
		case "predicted_n":
			c.Timings.Output = rawjson.Count(value)
		case "draft_n":
			c.Drafts.Tokens = max(rawjson.Count(value), 0)
		case "draft_n_accepted":
			c.Drafts.Accepted = max(rawjson.Count(value), 0)
		}
	})
	if fresh >= 0 {
		c.Timings.Input = fresh + max(c.Timings.Cached, 0)
	}
}
