package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
	"github.com/benchrig/bench/load/toolcall"
)

// anthropic is Anthropic's /v1/messages API. Its events have types; the text
// comes in deltas of content blocks. The prompt's count comes with the first
// event, the answer's with the last but one. It has no field that keeps the
// model from ending early.
type anthropic struct{}

// anthropicLimit is the answer's limit, in tokens, where none is asked for: the
// API requires one.
const anthropicLimit = 4096

var anthropicNames = aliases{
	"min_p": "", "frequency_penalty": "", "presence_penalty": "", "repetition_penalty": "", "seed": "",
	"stop": "stop_sequences",
}

func (anthropic) fields(o *Common, a Ask) ([]field, error) {
	limit := a.wanted()
	if limit <= 0 {
		limit = anthropicLimit
	}
	f := []field{
		{"model", o.Model}, {"messages", anthropicMessages(a)}, {"max_tokens", limit}, {"stream", !o.NoStream},
	}
	sampling, err := samplingFields(o.Sampling, anthropicNames)
	tools, bad := a.toolFields(o, anthropicTool)
	return append(append(f, sampling...), tools...), errors.Join(err, bad)
}

type anthropicPart struct {
	Type   string           `json:"type"`
	Text   *string          `json:"text,omitempty"`
	Source *anthropicSource `json:"source,omitempty"`
}

// anthropicSource is an image: the bytes of a data URL, or an address.
type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

func anthropicMessages(a Ask) []message {
	said := a.messages(false)
	if len(a.Images) == 0 {
		return said
	}
	parts := []anthropicPart{{Type: "text", Text: &a.Text}}
	for _, url := range a.Images {
		source := anthropicSource{Type: "url", URL: url}
		if media, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,"); ok {
			source = anthropicSource{Type: "base64", MediaType: media, Data: data}
		}
		parts = append(parts, anthropicPart{Type: "image", Source: &source})
	}
	said[0].Content = parts
	return said
}

func (anthropic) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}

	var kind, delta, message, fault, block, index []byte
	err := rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = rawjson.InQuotes(value)
		case "delta":
			delta = value
		case "message":
			message = value
		case "content_block":
			block = value
		case "index":
			index = value
		case "usage":
			anthropicUsage(value, &c.Usage)
		case "error":
			fault = event.FaultValue(value)
		}
	})
	c.Fault, c.Choices = fault, true
	switch string(kind) {
	case "message_start":
		c.Role = true
		rawjson.Inside(message, func(name, value []byte) {
			if string(name) == "usage" {
				anthropicUsage(value, &c.Usage)
			}
		})
	case "content_block_delta":
		anthropicDelta(delta, indexOf(index), c)
	case "message_delta":
		rawjson.Inside(delta, func(name, value []byte) {
			if string(name) == "stop_reason" {
				c.Finish = anthropicFinish(rawjson.InQuotes(value))
			}
		})
	case "message_stop":
		c.Last = true
	case "content_block_start":
		if p, ok := typedCall(block, indexOf(index)); ok {
			c.Calls = append(c.Calls, p)
		}
	case "content_block_stop", "ping":
	case "error":
		if c.Fault == nil {
			c.Fault = data
		}
	default:
		c.Choices = false
	}
	return err
}

func anthropicDelta(delta []byte, index int, c *event.Chunk) {
	rawjson.Inside(delta, func(name, value []byte) {
		switch string(name) {
		case "text":
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "thinking":
			c.Reasoning = rawjson.AppendText(c.Reasoning[:0], value)
		case "partial_json":
			c.Tool = len(rawjson.InQuotes(value)) > 0
			c.Calls = append(c.Calls, toolcall.Piece{Index: index, Arguments: rawjson.Text(value)})
		}
	})
}

// anthropicFinish returns a stop reason by the name that the other APIs use.
func anthropicFinish(reason []byte) []byte {
	switch string(reason) {
	case "max_tokens":
		return []byte("length")
	case "end_turn", "stop_sequence":
		return []byte("stop")
	case "tool_use":
		return []byte("tool_calls")
	}
	return bytes.Clone(reason)
}

// anthropicUsage reads counts; what came from the cache, or went into it, is not
// in input_tokens. The first event says 0 output tokens, as it does not know yet.
func anthropicUsage(value []byte, u *event.TokenCounts) {
	fresh, written := -1, 0

	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "input_tokens":
			fresh = rawjson.Count(value)
		case "cache_creation_input_tokens":
			written = max(rawjson.Count(value), 0)
		case "cache_read_input_tokens":
			u.Cached = rawjson.Count(value)
		case "output_tokens":
			if u.Output = rawjson.Count(value); u.Output == 0 {
				u.Output = -1
			}
		}
	})

	if fresh >= 0 {
		u.Input = fresh + written + max(u.Cached, 0)
	}
	if u.Input == 0 {
		u.Input = -1
	}
}

// parseWhole reads an answer that is not streamed.
func (anthropic) parseWhole(data []byte, c *event.Chunk) error {
	c.Reset()
	if !json.Valid(data) {
		return rawjson.ErrNotJSON
	}

	top := rawjson.Object(data)
	c.Fault = event.FaultValue(top["error"])
	for i, raw := range rawjson.Array(top["content"]) {
		c.Choices = true
		block := rawjson.Object(raw)
		c.Content = append(c.Content, rawjson.Text(block["text"])...)
		c.Reasoning = append(c.Reasoning, rawjson.Text(block["thinking"])...)
		if p, ok := typedCall(raw, i); ok {
			c.Tool, c.Calls = true, append(c.Calls, p)
		}
	}
	c.Finish = anthropicFinish([]byte(rawjson.Text(top["stop_reason"])))
	anthropicUsage(top["usage"], &c.Usage)
	return nil
}
