package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/benchrig/bench/load/dialect/rawjson"
	"github.com/benchrig/bench/load/toolcall"
)

// tools returns the tools of a request in the form of chat completions; nil: it
// has none.
func (a Ask) tools(o *Common) (json.RawMessage, error) {
	if len(a.Tools) > 0 || len(o.Tools) == 0 {
		return a.Tools, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := writeValue(&b, enc, o.Tools); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return b.Bytes(), nil
}

// offersTools reports whether the prompt or the settings have tools.
func (a Ask) offersTools(o *Common) bool { return len(a.Tools)+len(o.Tools) > 0 }

// toolFields returns the field of the tools, each in the API's form; nil without
// tools.
func (a Ask) toolFields(o *Common, form func(toolcall.Function) []field) ([]field, error) {
	raw, err := a.tools(o)
	if len(raw) == 0 || err != nil {
		return nil, err
	}
	functions, err := toolcall.Functions(raw)
	if err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}

	list := make([]json.RawMessage, len(functions))
	for i, f := range functions {
		if list[i], err = encodeFields(form(f), false); err != nil {
			return nil, err
		}
	}
	return []field{{"tools", list}}, nil
}

// parameters returns the schema of a function's arguments: APIs require one.
func parameters(f toolcall.Function) json.RawMessage {
	if f.Parameters == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return f.Parameters
}

// responsesTool returns a function in the form of OpenAI's Responses.
func responsesTool(f toolcall.Function) []field {
	return []field{
		{"type", "function"},
		{"name", f.Name},
		{"description", f.Description},
		{"parameters", parameters(f)},
		{"strict", false},
	}
}

// anthropicTool returns a function in the form of Anthropic's Messages.
func anthropicTool(f toolcall.Function) []field {
	return []field{{"name", f.Name}, {"description", f.Description}, {"input_schema", parameters(f)}}
}

// toolsIn returns the tools that a body offers, from the prompt, the settings or
// Target.Body; nil: none.
func toolsIn(fields []field) (*toolcall.Set, error) {
	for _, f := range fields {
		if f.name != "tools" {
			continue
		}
		raw, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("encode tools: %w", err)
		}
		tools, err := toolcall.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("read the tools of the request: %w", err)
		}
		return tools, nil
	}
	return nil, nil
}

// typedCall reads an item of Responses or a content block of Messages that calls
// a tool.
func typedCall(raw []byte, index int) (p toolcall.Piece, ok bool) {
	item := rawjson.Object(raw)
	switch rawjson.Text(item["type"]) {
	case "function_call":
		return toolcall.Piece{
			Index: index, ID: rawjson.Text(item["id"]), Name: rawjson.Text(item["name"]),
			Arguments: rawjson.Text(item["arguments"]),
		}, true
	case "tool_use":
		p = toolcall.Piece{Index: index, Name: rawjson.Text(item["name"])}
		if p.Arguments = toolcall.ArgumentText(item["input"]); p.Arguments == "{}" {
			p.Arguments = "" // of a stream: the arguments follow in pieces
		}
		return p, true
	}
	return p, false
}

// indexOf returns the number of an item, 0 where the server does not give it.
func indexOf(raw []byte) int {
	n, _ := strconv.Atoi(string(raw))
	return n
}
