package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
	"github.com/benchrig/bench/load/toolcall"
)

// responses is OpenAI's /v1/responses API. Its events have types; the text
// comes in deltas, the counts with the event that ends the stream, which has no
// other end mark. The server is asked to keep nothing of the answer.
type responses struct{}

var responsesNames = aliases{"min_p": ""}

func (responses) fields(o *Common, a Ask) ([]field, error) {
	f := []field{{"model", o.Model}, {"input", responsesInput(a)}}
	f = limitField(f, "max_output_tokens", a)
	f, err := appendSampling(append(f, field{"stream", !o.NoStream}, field{"store", false}), o, responsesNames)
	tools, bad := a.toolFields(o, responsesTool)
	return append(f, tools...), errors.Join(err, bad)
}

// responsesItem is an item of what was said so far. Servers want those of the
// assistant complete.
type responsesItem struct {
	Type    string `json:"type,omitempty"`
	ID      string `json:"id,omitempty"`
	Role    string `json:"role"`
	Status  string `json:"status,omitempty"`
	Content any    `json:"content"` // string, or []responsesPart
}

type responsesPart struct {
	Type        string    `json:"type"`
	Text        *string   `json:"text,omitempty"`
	ImageURL    string    `json:"image_url,omitempty"`
	Annotations *[]string `json:"annotations,omitempty"`
}

// responsesInput returns the prompt as a text, or as a list of items where that
// cannot say all.
func responsesInput(a Ask) any {
	if len(a.Answers) == 0 && len(a.Images) == 0 {
		return a.Text
	}

	items := []responsesItem{{Role: "user", Content: responsesContent(a.Text, a.Images)}}
	for i, answer := range a.Answers {
		items = append(items, responsesItem{
			Type: "message", ID: "msg_" + strconv.Itoa(i), Role: "assistant", Status: "completed",
			Content: []responsesPart{{Type: "output_text", Text: &answer, Annotations: new([]string{})}},
		}, responsesItem{Role: "user", Content: a.Turns[i].Text})
	}
	return items
}

func responsesContent(text string, images []string) any {
	if len(images) == 0 {
		return text
	}
	parts := []responsesPart{{Type: "input_text", Text: &text}}
	for _, url := range images {
		parts = append(parts, responsesPart{Type: "input_image", ImageURL: url})
	}
	return parts
}

// Parse reads an event. Events that repeat what came before, such as those that
// end a part, carry nothing.
func (responses) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}

	var kind, delta, response, fault, item, index, id []byte
	err := rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = rawjson.InQuotes(value)
		case "delta":
			delta = value
		case "response":
			response = value
		case "item":
			item = value
		case "output_index":
			index = value
		case "item_id":
			id = value
		case "timings": // llama-server's addition
			event.ReadTimings(value, c)
		case "error":
			fault = event.FaultValue(value)
		}
	})
	c.Fault = fault
	switch string(kind) {
	case "response.output_text.delta", "response.refusal.delta":
		c.Content = rawjson.AppendText(c.Content[:0], delta)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta":
		c.Reasoning = rawjson.AppendText(c.Reasoning[:0], delta)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
		"response.mcp_call_arguments.delta", "response.code_interpreter_call_code.delta":
		c.Tool = len(rawjson.InQuotes(delta)) > 0
		c.Calls = append(c.Calls, toolcall.Piece{
			Index: indexOf(index), ID: rawjson.Text(id), Arguments: rawjson.Text(delta),
		})
	case "response.output_item.added":
		if p, ok := typedCall(item, indexOf(index)); ok {
			c.Calls = append(c.Calls, p)
		}
	case "response.completed", "response.incomplete", "response.failed":
		c.Last = true
		responsesEnd(response, c)
	case "error":
		if c.Fault == nil {
			c.Fault = data
		}
	}
	c.Choices = bytes.HasPrefix(kind, []byte("response."))
	return err
}

// responsesEnd reads the response object that is in the last event.
func responsesEnd(response []byte, c *event.Chunk) {
	var status, reason []byte
	rawjson.Inside(response, func(name, value []byte) {
		switch string(name) {
		case "status":
			status = rawjson.InQuotes(value)
		case "incomplete_details":
			rawjson.Inside(value, func(name, value []byte) {
				if string(name) == "reason" {
					reason = rawjson.InQuotes(value)
				}
			})
		case "usage":
			responsesUsage(value, &c.Usage)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})

	switch {
	case string(reason) == "max_output_tokens":
		c.Finish = []byte("length")
	case len(reason) > 0:
		c.Finish = bytes.Clone(reason)
	case string(status) == "completed":
		c.Finish = []byte("stop")
	default:
		c.Finish = bytes.Clone(status)
	}
	if string(status) == "failed" && c.Fault == nil {
		c.Fault = response
	}
}

func responsesUsage(value []byte, u *event.TokenCounts) {
	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "input_tokens":
			u.Input = rawjson.Count(value)
		case "output_tokens":
			u.Output = rawjson.Count(value)
		case "input_tokens_details":
			event.ReadCached(value, u)
		}
	})
}

// parseWhole reads an answer that is not streamed.
func (responses) parseWhole(data []byte, c *event.Chunk) error {
	c.Reset()
	if !json.Valid(data) {
		return rawjson.ErrNotJSON
	}

	top := rawjson.Object(data)
	for i, raw := range rawjson.Array(top["output"]) {
		c.Choices = true
		item := rawjson.Object(raw)
		switch rawjson.Text(item["type"]) {
		case "message":
			c.Content = appendParts(c.Content, item["content"], "text", "refusal")
		case "reasoning":
			c.Reasoning = appendParts(c.Reasoning, item["content"], "text")
			if len(c.Reasoning) == 0 {
				c.Reasoning = appendParts(c.Reasoning, item["summary"], "text")
			}
		case "function_call", "custom_tool_call", "mcp_call":
			c.Tool = true
			if p, ok := typedCall(raw, i); ok {
				c.Calls = append(c.Calls, p)
			}
		}
	}
	event.ReadTimings(top["timings"], c)
	responsesEnd(data, c)
	return nil
}

// appendParts appends the texts of a list of parts, which are in members of
// these names.
func appendParts(dst []byte, list json.RawMessage, names ...string) []byte {
	for _, raw := range rawjson.Array(list) {
		part := rawjson.Object(raw)
		for _, name := range names {
			dst = append(dst, rawjson.Text(part[name])...)
		}
	}
	return dst
}
