package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

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
	f = append(f, field{"stream", !o.NoStream}, field{"store", false})
	sampling, err := samplingFields(o.Sampling, responsesNames)
	f = append(f, sampling...)
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
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

// responsesInput is the prompt as a text, or as a list of items where that
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

// Parse reads an event. Events that only say what was said already, such as
// those that end a part, carry nothing.
func (responses) Parse(data []byte, c *Chunk) error {
	if !c.begin(data) {
		return nil
	}

	var kind, delta, response, fault, item, index, id []byte
	err := walk(data, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = inQuotes(value)
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
			llamaTimings(value, &c.Timings, &c.Drafts)
		case "error":
			fault = FaultValue(value)
		}
	})
	c.Fault = fault
	switch string(kind) {
	case "response.output_text.delta", "response.refusal.delta":
		c.Content = appendText(c.Content[:0], delta)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta", "response.reasoning.delta":
		c.Reasoning = appendText(c.Reasoning[:0], delta)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
		"response.mcp_call_arguments.delta", "response.code_interpreter_call_code.delta":
		c.tool = len(inQuotes(delta)) > 0
		c.Calls = append(c.Calls, toolcall.Piece{Index: indexOf(index), ID: text(id), Arguments: text(delta)})
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
func responsesEnd(response []byte, c *Chunk) {
	var status, reason []byte
	inside(response, func(name, value []byte) {
		switch string(name) {
		case "status":
			status = inQuotes(value)
		case "incomplete_details":
			inside(value, func(name, value []byte) {
				if string(name) == "reason" {
					reason = inQuotes(value)
				}
			})
		case "usage":
			responsesUsage(value, &c.Usage)
		case "error":
			c.Fault = FaultValue(value)
		}
	})

	switch {
	case string(reason) == "max_output_tokens":
		c.Finish = append([]byte(nil), "length"...)
	case len(reason) > 0:
		c.Finish = bytes.Clone(reason)
	case string(status) == "completed":
		c.Finish = append([]byte(nil), "stop"...)
	default:
		c.Finish = bytes.Clone(status)
	}
	if string(status) == "failed" && c.Fault == nil {
		c.Fault = response
	}
}

func responsesUsage(value []byte, u *TokenCounts) {
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "input_tokens":
			u.Input = countOf(value)
		case "output_tokens":
			u.Output = countOf(value)
		case "input_tokens_details":
			inside(value, func(name, value []byte) {
				if string(name) == "cached_tokens" {
					u.Cached = countOf(value)
				}
			})
		}
	})
}

// parseWhole reads an answer that is not streamed.
func (responses) parseWhole(data []byte, c *Chunk) error {
	c.reset()
	if !json.Valid(data) {
		return errNotJSON
	}

	top := Object(data)
	for i, raw := range array(top["output"]) {
		c.Choices = true
		item := Object(raw)
		switch text(item["type"]) {
		case "message":
			c.Content = appendParts(c.Content, item["content"], "text", "refusal")
		case "reasoning":
			c.Reasoning = appendParts(c.Reasoning, item["content"], "text")
			if len(c.Reasoning) == 0 {
				c.Reasoning = appendParts(c.Reasoning, item["summary"], "text")
			}
		case "function_call", "custom_tool_call", "mcp_call":
			c.tool = true
			if p, ok := typedCall(raw, i); ok {
				c.Calls = append(c.Calls, p)
			}
		}
	}
	if timings := top["timings"]; timings != nil {
		llamaTimings(timings, &c.Timings, &c.Drafts)
	}
	responsesEnd(data, c)
	return nil
}

// appendParts appends the texts of a list of parts, which are in members of
// these names.
func appendParts(dst []byte, list json.RawMessage, names ...string) []byte {
	for _, raw := range array(list) {
		part := Object(raw)
		for _, name := range names {
			dst = append(dst, text(part[name])...)
		}
	}
	return dst
}
