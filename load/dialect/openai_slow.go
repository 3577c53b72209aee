package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
)

// members is a JSON object whose values are not looked at yet.
type members map[string]json.RawMessage

// parseSlow is parseFast by encoding/json, for what that one leaves: escaped
// or repeated names, numbers with fractions, deep nesting, bad syntax.
func parseSlow(data []byte, c *Chunk) error { return parseNamed(data, c, "delta") }

// parseNamed reads an event or a whole answer. delta names the member of a
// choice that holds a message, or a piece of one.
func parseNamed(data []byte, c *Chunk, delta string) error {
	if !json.Valid(data) {
		return errNotJSON
	}
	c.Odd = true // rare enough to be looked at twice
	top := Object(data)
	for _, raw := range array(top["choices"]) {
		c.Choices = true
		slowChoice(Object(raw), delta, c)
	}
	usage := Object(top["usage"])
	c.Usage.Input = number(usage["prompt_tokens"])
	c.Usage.Output = number(usage["completion_tokens"])
	c.Usage.Cached = number(Object(usage["prompt_tokens_details"])["cached_tokens"])
	timings := Object(top["timings"])
	c.Timings.Cached = number(timings["cache_n"])
	c.Timings.Output = number(timings["predicted_n"])
	c.Timings.Input = promptLength(number(timings["prompt_n"]), c.Timings.Cached)
	c.Drafts = DraftCounts{
		Tokens:   max(number(timings["draft_n"]), 0),
		Accepted: max(number(timings["draft_n_accepted"]), 0),
	}
	c.Fault = FaultValue(top["error"])
	if c.Fault == nil && string(top["object"]) == `"error"` {
		c.Fault = FaultValue(top["message"])
	}

	return nil
}

func slowChoice(choice members, name string, c *Chunk) {
	delta := Object(choice[name])
	reasoning := text(delta["reasoning_content"])
	if reasoning == "" {
		reasoning = text(delta["reasoning"])
	}
	c.Reasoning = append(c.Reasoning, reasoning...)
	c.Content = append(c.Content, text(delta["content"])...)
	c.Content = append(c.Content, text(choice["text"])...)
	c.role = c.role || text(delta["role"]) != ""
	c.tool = c.tool || isFilled(delta["tool_calls"], '[') || isFilled(delta["function_call"], '{')
	c.Calls = chatCalls(c.Calls, delta["tool_calls"])
	if finish := text(choice["finish_reason"]); finish != "" {
		c.Finish = []byte(finish)
	}
}

// maxMembers is how many members a JSON object may have, so that one whose names
// are short does not cost many times its size.
const maxMembers = 1 << 16

// Object returns the members of a JSON object; nil if raw is anything else.
func Object(raw json.RawMessage) members {
	var m members
	if bytes.Count(raw, []byte(`":`)) > maxMembers {
		return nil
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

func array(raw json.RawMessage) []json.RawMessage {
	var a []json.RawMessage
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// number returns a non-negative integer, or -1 for anything else.
func number(raw json.RawMessage) int {
	var v *float64
	if json.Unmarshal(raw, &v) != nil || v == nil || *v < 0 || *v > 1<<53 || *v != math.Trunc(*v) {
		return -1
	}
	return int(*v)
}

// FaultMessage puts an error value into words: its message with type and code
// where it has them, else the value as it stands, cut to limit bytes.
func FaultMessage(raw []byte, limit int) string {
	if s := text(raw); s != "" {
		return Cut(s, limit)
	}
	fields := Object(raw)
	message := cmp.Or(text(fields["message"]), text(fields["msg"]))
	if message == "" {
		return Cut(string(raw), limit)
	}
	var notes []string
	for _, name := range []string{"type", "code"} {
		if v := fields[name]; len(v) > 0 && string(v) != "null" {
			notes = append(notes, name+" "+strings.Trim(string(v), `"`))
		}
	}
	message = Cut(ownWords(message), limit)
	if len(notes) > 0 {
		message += " (" + strings.Join(notes, ", ") + ")"
	}

	return message
}

// pydanticError is one entry of what vLLM says of a body that it cannot take:
// a Python dictionary with place, message and the whole input.
var pydanticError = regexp.MustCompile(`'loc': \(([^)]*)\), 'msg': ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`)

// ownWords takes the messages and their places out of a validation error, which
// also repeats the input and a file of the server; others stay as they are.
func ownWords(message string) string {
	if !strings.Contains(message, "validation error") {
		return message
	}

	var all []string
	for _, found := range pydanticError.FindAllStringSubmatch(message, -1) {
		place := strings.NewReplacer("'body'", "", "'", "", ", ", ".", ",", "").Replace(found[1])
		said := strings.TrimPrefix(found[2][1:len(found[2])-1], "Value error, ")
		if place = strings.Trim(place, "."); place != "" {
			said = place + ": " + said
		}
		if !slices.Contains(all, said) { // it is written twice
			all = append(all, said)
		}
	}

	if all == nil {
		return message
	}
	return strings.Join(all, "; ")
}

// BodyMessage finds the server's words in the body of an answer that is no
// stream: the message of a JSON error, else the body itself, cut to limit.
func BodyMessage(body []byte, limit int) string {
	fields := Object(body)
	for _, name := range []string{"error", "message", "detail", "errors"} {
		if v := FaultValue(fields[name]); v != nil {
			if s := text(v); s != "" || name == "error" {
				return FaultMessage(v, limit)
			}
			return Cut(string(v), limit)
		}
	}
	return Cut(strings.TrimSpace(string(body)), limit)
}

// Cut shortens s to limit bytes without splitting a character.
func Cut(s string, limit int) string {
	s = secrets.Known().Text(s) // before it is cut: a part of a secret is not recognised afterwards
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(strings.ToValidUTF8(s[:limit], ""), "\uFFFD") + "..."
}

// DescribeJSONTrouble says what an unparsable event looks like.
func DescribeJSONTrouble(data []byte) error {
	if strings.HasPrefix(string(data), "{") && strings.Contains(string(data), "}\n{") {
		return fmt.Errorf("one event holds several JSON values: the server ends its events with one newline, not "+
			"two: %q", Cut(string(data), 200))
	}
	return fmt.Errorf("event data is not JSON: %q", Cut(string(data), 200))
}
