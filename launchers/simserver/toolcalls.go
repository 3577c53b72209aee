package simserver

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// callBytes is how much of a call's arguments a token of the answer stands for.
const callBytes = 4

// chatTool is a tool that a request offers.
type chatTool struct {
	Function struct {
		Name       string     `json:"name"`
		Parameters toolSchema `json:"parameters"`
	} `json:"function"`
}

// toolSchema is what the simulator follows of a JSON Schema.
type toolSchema struct {
	Type       any                   `json:"type"`
	Enum       []any                 `json:"enum"`
	Required   []string              `json:"required"`
	Properties map[string]toolSchema `json:"properties"`
	Items      *toolSchema           `json:"items"`
}

// sample is a value that satisfies the schema; n makes values differ.
func (t toolSchema) sample(n int) any {
	if len(t.Enum) > 0 {
		return t.Enum[n%len(t.Enum)]
	}

	switch t.Type {
	case "string":
		return "value " + string(rune('a'+n%26))
	case "integer":
		return n
	case "number":
		return float64(n) + 0.5
	case "boolean":
		return n%2 == 0
	case "array":
		if t.Items == nil {
			return []any{}
		}
		return []any{t.Items.sample(n)}
	case "object":
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
			object[name] = t.Properties[name].sample(n)
		}
		return object
	}
	return nil
}

// toolCall is what an answer calls in place of words.
type toolCall struct{ name, arguments string }

// sharePicks reports whether request n, counted from 1, is among a share of the
// requests that is exact over any row of them.
func sharePicks(share float64, n int) bool {
	return math.Floor(share*float64(n)+1e-9) > math.Floor(share*float64(n-1)+1e-9)
}

// callOf is the call that answers request n; nil: it is answered in words. Those
// that are wrong name no tool, or are not JSON, or lack what the schema requires.
func (s *server) callOf(g generation, n int) *toolCall {
	if len(g.tools) == 0 || !sharePicks(s.cfg.ToolCalls, n) {
		return nil
	}

	tool := g.tools[n%len(g.tools)].Function
	call := &toolCall{tool.Name, "{}"}
	if tool.Parameters.Type == "object" {
		call.arguments = string(mustJSON(tool.Parameters.sample(n)))
	}
	if !sharePicks(s.cfg.BadToolCalls, n) {
		return call
	}

	switch n % 3 {
	case 0:
		call.name += "_of_another"
	case 1:
		call.arguments = call.arguments[:len(call.arguments)-1]
	default:
		if call.arguments = "{}"; len(tool.Parameters.Required) == 0 {
			call.name += "_of_another"
		}
	}
	return call
}

// piece is what an event's tokens stand for; the first ones stand for the name too.
func (c *toolCall) piece(e simengine.Event) string {
	from := min(e.From*callBytes, len(c.arguments))
	return c.arguments[from:min((e.From+e.N)*callBytes, len(c.arguments))]
}

// tokens is how long the answer is, its end mark included.
func (c *toolCall) tokens() int { return (len(c.arguments)+callBytes-1)/callBytes + 1 }

func (c *toolCall) finish(f simengine.Finish) string {
	if f == simengine.FinishLength {
		return string(f)
	}
	return "tool_calls"
}

// object is the call in a message; of a stream its beginning.
func (c *toolCall) object(a *answer, arguments string) map[string]any {
	return map[string]any{
		"index": 0, "id": "call_" + a.id, "type": "function",
		"function": map[string]string{"name": c.name, "arguments": arguments},
	}
}

// toolChunks renders an answer that is a call.
type toolChunks struct {
	server *server
	answer *answer
	begun  bool
}

func (c *toolChunks) write(out *eventWriter, e simengine.Event) bool {
	if e.Finish == simengine.FinishError {
		return out.sendData(c.server.errorBody(midStreamError())) && (c.server.llamaCpp() || out.done())
	}

	call := c.answer.call
	if !c.begun {
		c.begun = true
		opening := map[string]any{
			"role": "assistant", "content": nil, "tool_calls": []any{call.object(c.answer, "")},
		}
		if !c.chunk(out, opening, nil, nil) {
			return false
		}
	}

	for _, part := range c.server.eventParts(e) {
		piece := call.piece(part)
		if piece == "" {
			continue
		}
		delta := map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "function": map[string]string{"arguments": piece},
		}}}
		if !c.chunk(out, delta, nil, nil) {
			return false
		}
	}
	if e.Finish == simengine.FinishNone {
		return true
	}

	if !c.chunk(out, map[string]any{}, call.finish(e.Finish), nil) {
		return false
	}
	if c.answer.includeUsage && !c.chunk(out, nil, nil, c.server.usage(c.answer)) {
		return false
	}
	return out.done()
}

// chunk sends a chunk with a choice, or with usage alone.
func (c *toolChunks) chunk(out *eventWriter, delta map[string]any, finish, usage any) bool {
	o := map[string]any{
		"id": c.answer.id, "object": "chat.completion.chunk", "created": c.answer.created,
		"model": c.server.modelOf(c.answer), "choices": []any{},
	}
	if delta != nil {
		o["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	if usage != nil {
		o["usage"] = usage
		if c.server.llamaCpp() {
			o["timings"] = c.server.timings(c.answer)
		}
	}
	return out.sendData(mustJSON(o))
}

// readTools are the tools of a body that may be called.
func readTools(raw, choice json.RawMessage) ([]chatTool, *apiError) {
	if len(raw) == 0 || string(raw) == "null" || string(choice) == `"none"` {
		return nil, nil
	}
	var tools []chatTool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return nil, badRequest("tools: %v", err)
	}
	for i, t := range tools {
		if t.Function.Name == "" {
			return nil, badRequest("tools[%d].function.name: field required", i)
		}
	}
	return tools, nil
}
