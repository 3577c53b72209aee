package event

import "encoding/json"

// First is what vLLM's serving clients read of one event, as their Python does:
// the first listed choice, else usage.
type First struct {
	Choices bool   // there is one
	Text    string // of its "text", for chat of its "delta"
	NoText  bool   // completions: it has no "text", which is fatal before 2025

	Usage         bool // an object of usage without choices
	Input, Output int  // of it; -1: not given

	Err string // the exception that the event ends in; "": none
}

// ReadFirst reads an event as those clients do.
func ReadFirst(data []byte, chat bool) First {
	f := First{Input: -1, Output: -1}
	var event any
	if json.Unmarshal(data, &event) != nil {
		f.Err = "not JSON"
		return f
	}
	top, ok := event.(map[string]any)
	if !ok {
		f.Err = "the event is not an object"
		return f
	}
	if choices := top["choices"]; truthy(choices) {
		f.Choices = true
		f.choice(choices, chat)
		return f
	}
	if !truthy(top["usage"]) {
		return f
	}

	usage, ok := top["usage"].(map[string]any)
	if !ok {
		f.Err = "usage is not an object"
		return f
	}
	f.Usage, f.Input, f.Output = true, countIn(usage["prompt_tokens"]), countIn(usage["completion_tokens"])
	return f
}

func (f *First) choice(choices any, chat bool) {
	list, ok := choices.([]any)
	if !ok {
		f.Err = "choices is not an array"
		return
	}
	member, name := list[0], "text"
	if chat {
		choice, ok := member.(map[string]any)
		if !ok {
			f.Err = "the first choice is not an object"
			return
		}
		member, name = choice["delta"], "content"
	}

	holder, ok := member.(map[string]any)
	if !ok {
		f.Err = "the first choice, or its delta, is not an object"
		return
	}
	value, there := holder[name]
	f.NoText = !there && !chat
	if f.Text, ok = value.(string); !ok && truthy(value) {
		f.Err = name + " of the first choice is not text"
	}
}

// truthy reports whether Python takes a JSON value for true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// countIn returns a count of tokens, -1 for what is not a count.
func countIn(v any) int {
	n, ok := v.(float64)
	if !ok || n < 0 || n > 1<<53 {
		return -1
	}
	return int(n)
}
