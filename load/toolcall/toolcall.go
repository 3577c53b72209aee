// Package toolcall judges the tool calls of answers.
//
// What goes in: the tools of a request in any of the forms that APIs have, and
// the pieces of an answer's calls as they are streamed. What comes out: the
// calls, and what is wrong with them. It sends and runs nothing.
package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set are the tools that a request offers.
type Set struct {
	schemas map[string]any // of the arguments, by the tool's name; nil: any
}

// Function is a tool that a model may call.
type Function struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments; nil: any
}

// wireTool has the members of all forms: chat completions have them within
// "function", Anthropic's parameters are "input_schema".
type wireTool struct {
	Type        string          `json:"type"`
	Function    *wireTool       `json:"function"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Functions reads a list of tools. Tools of other types, which servers run
// themselves, are left out.
func Functions(raw []byte) ([]Function, error) {
	var list []wireTool
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New(`tools are not a list of objects like {"type": "function", "function": {"name": ...}}`)
	}

	var all []Function
	for i, t := range list {
		if t.Function != nil {
			t = *t.Function
		}
		if t.Name == "" {
			if t.Type != "" && t.Type != "function" {
				continue
			}
			return nil, fmt.Errorf("tool %d has no name", i+1)
		}

		f := Function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if f.Parameters == nil {
			f.Parameters = t.InputSchema
		}
		if slices.ContainsFunc(all, func(other Function) bool { return other.Name == f.Name }) {
			return nil, fmt.Errorf("two tools have the name %q", f.Name)
		}
		if schema := strings.TrimSpace(string(f.Parameters)); schema == "null" {
			f.Parameters = nil
		} else if schema != "" && schema[0] != '{' {
			return nil, fmt.Errorf("the parameters of tool %q are not a JSON Schema: want an object", f.Name)
		}
		all = append(all, f)
	}
	return all, nil
}

// Parse reads a list of tools for judging calls; nil if it holds no function.
func Parse(raw []byte) (*Set, error) {
	functions, err := Functions(raw)
	if err != nil || len(functions) == 0 {
		return nil, err
	}

	s := &Set{schemas: make(map[string]any, len(functions))}
	for _, f := range functions {
		var schema any
		if f.Parameters != nil {
			_ = json.Unmarshal(f.Parameters, &schema) // it is part of JSON that was read
		}
		s.schemas[f.Name] = schema
	}
	return s, nil
}

// Call is one call of an answer.
type Call struct {
	Name      string
	Arguments string // JSON, as the model wrote it
}

// Problem says what is wrong with a call, "" if nothing is.
func (s *Set) Problem(c Call) string {
	schema, known := s.schemas[c.Name]
	if !known {
		return fmt.Sprintf("no tool has the name %q", shorten(c.Name))
	}

	text := strings.TrimSpace(c.Arguments)
	if text == "" { // how some servers say that there are none
		text = "{}"
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return fmt.Sprintf("the arguments of %s are not JSON: %q", shorten(c.Name), shorten(text))
	}
	if _, ok := value.(map[string]any); !ok {
		return fmt.Sprintf("the arguments of %s are not an object: %q", shorten(c.Name), shorten(text))
	}
	if problem := check(schema, value, "arguments"); problem != "" {
		return shorten(c.Name) + ": " + problem
	}
	return ""
}

// shorten keeps words of a model short in a message.
func shorten(s string) string {
	const most = 60 // characters
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

// Piece is what one event of a stream adds to a call.
type Piece struct {
	Index     int    // which call of the answer, as the server numbers them
	ID        string // "": the piece does not say
	Name      string // "": the piece does not say
	Arguments string // to append
}

// AppendPieces appends the pieces of calls that a member tool_calls of chat
// completions holds.
func AppendPieces(pieces []Piece, raw []byte) []Piece {
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
		p := Piece{Index: i, ID: c.ID, Name: c.Function.Name, Arguments: ArgumentText(c.Function.Arguments)}
		if c.Index != nil {
			p.Index = *c.Index
		}
		pieces = append(pieces, p)
	}
	return pieces
}

// ArgumentText returns the arguments of a call as text: most servers send a
// string that holds JSON, some the object itself.
func ArgumentText(raw json.RawMessage) string {
	var text *string
	switch {
	case len(raw) == 0:
		return ""
	case json.Unmarshal(raw, &text) != nil:
		return string(raw)
	case text == nil:
		return ""
	}
	return *text
}

// mostCalls is how many calls of an answer are kept.
const mostCalls = 256

// Calls are those of an answer while it arrives.
type Calls struct {
	open  []openCall
	bytes int
}

type openCall struct {
	index int
	id    string
	name  string
	text  []byte
}

// Add takes a piece in. Where pieces have ids, these decide: some servers give all
// calls of an answer the same number.
func (c *Calls) Add(p Piece) {
	at := c.find(p)
	if at < 0 {
		if len(c.open) == mostCalls {
			return
		}
		at = len(c.open)
		c.open = append(c.open, openCall{index: p.Index})
	}

	call := &c.open[at]
	if call.id == "" {
		call.id = p.ID
	}
	if call.name == "" {
		call.name = p.Name
		c.bytes += len(p.Name)
	}
	call.text = append(call.text, p.Arguments...)
	c.bytes += len(p.Arguments)
}

// find returns the place of the call that a piece belongs to, -1 if it begins one.
// A piece without a name continues a call, whatever its id.
func (c *Calls) find(p Piece) int {
	latest := -1 // of the piece's number
	for at, call := range slices.Backward(c.open) {
		if p.ID != "" && call.id == p.ID {
			return at
		}
		if latest < 0 && call.index == p.Index {
			latest = at
		}
	}
	if latest >= 0 && p.Name != "" && p.ID != "" && c.open[latest].id != "" {
		return -1
	}
	return latest
}

// Bytes is how much of memory the calls' texts take.
func (c *Calls) Bytes() int { return c.bytes }

// List are the calls so far, in the order in which they began.
func (c *Calls) List() []Call {
	var all []Call
	for _, call := range c.open {
		all = append(all, Call{Name: call.name, Arguments: string(call.text)})
	}
	return all
}
