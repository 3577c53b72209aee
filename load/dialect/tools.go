package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/benchrig/bench/load/toolcall"
)

// tools are those of a request in the form of chat completions; nil: it has none.
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

// offersTools reports whether a request has tools of the prompt's or the settings'.
func (a Ask) offersTools(o *Common) bool { return len(a.Tools)+len(o.Tools) > 0 }

// toolFields are the field of the tools, each as form makes it; nothing without tools.
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

// parameters are the schema of a function's arguments, which APIs require.
func parameters(f toolcall.Function) json.RawMessage {
	if f.Parameters == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return f.Parameters
}

// responsesTool is a function in the form of OpenAI's Responses.
func responsesTool(f toolcall.Function) []field {
	return []field{
		{"type", "function"},
		{"name", f.Name},
		{"description", f.Description},
		{"parameters", parameters(f)},
		{"strict", false},
	}
}

// anthropicTool is a function in the form of Anthropic's Messages.
func anthropicTool(f toolcall.Function) []field {
	return []field{{"name", f.Name}, {"description", f.Description}, {"input_schema", parameters(f)}}
}

// toolsIn are the tools that a body offers, by whatever way they got into it; nil: none.
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

// chatCalls appends the pieces of calls in a member tool_calls of chat completions.
func chatCalls(pieces []toolcall.Piece, raw []byte) []toolcall.Piece {
	var list []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return pieces
	}
	for i, c := range list {
		p := toolcall.Piece{Index: i, ID: c.ID, Name: c.Function.Name, Arguments: argumentText(c.Function.Arguments)}
		if c.Index != nil {
			p.Index = *c.Index
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// argumentText are arguments as text: most servers send a string that holds
// JSON, some the object itself.
func argumentText(raw json.RawMessage) string {
	switch {
	case len(raw) == 0, string(raw) == "null":
		return ""
	case raw[0] == '"':
		return text(raw)
	}
	return string(raw)
}

// typedCall is an item of Responses or a content block of Messages that calls a tool.
func typedCall(raw []byte, index int) (p toolcall.Piece, ok bool) {
	item := Object(raw)
	switch text(item["type"]) {
	case "function_call":
		return toolcall.Piece{
			Index: index, ID: text(item["id"]), Name: text(item["name"]), Arguments: text(item["arguments"]),
		}, true
	case "tool_use":
		p = toolcall.Piece{Index: index, Name: text(item["name"]), Arguments: argumentText(item["input"])}
		if p.Arguments == "{}" {
			p.Arguments = "" // of a stream: the arguments follow in pieces
		}
		return p, true
	}
	return p, false
}

// indexOf is the number of an item, 0 where the server does not say it.
func indexOf(raw []byte) int {
	n, _ := strconv.Atoi(string(raw))
	return n
}
