package dialect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/toolcall"
)

const lampTool = `[{"function":{"description":"d","name":"lamp",` +
	`"parameters":{"required":["on"],"type":"object"}},"type":"function"}]`

// Tools go into a body in the form of its API, and the answer's calls are judged
// by them, by whichever way they got there.
func TestToolsInBodies(t *testing.T) {
	for _, c := range []struct{ api, want string }{
		{"chat", lampTool},
		{"responses", `[{"type":"function","name":"lamp","description":"d",` +
			`"parameters":{"required":["on"],"type":"object"},"strict":false}]`},
		{"messages", `[{"name":"lamp","description":"d","input_schema":{"required":["on"],"type":"object"}}]`},
	} {
		api, err := APINamed(c.api)
		if err != nil {
			t.Fatal(err)
		}
		for way, ask := range map[string]struct {
			settings spec.Settings
			prompt   Prompt
		}{
			"settings": {spec.Settings{Tools: listOf(t, lampTool)}, Prompt{Text: "hi"}},
			"prompt": {
				spec.Settings{Tools: listOf(t, `[{"name":"other"}]`)},
				Prompt{Text: "hi", Tools: json.RawMessage(lampTool)},
			},
			"body": {spec.Settings{Body: map[string]any{"tools": json.RawMessage(c.want)}}, Prompt{Text: "hi"}},
		} {
			e, err := api.Encode(&Common{Settings: &ask.settings, Model: "m"}, Ask{Prompt: ask.prompt})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(e.Body), `"tools":`+c.want) {
				t.Errorf("%s, %s: %s has not the tools %s", c.api, way, e.Body, c.want)
			}
			if e.Tools == nil || e.Tools.Problem(toolcall.Call{Name: "lamp", Arguments: "{}"}) == "" {
				t.Errorf("%s, %s: calls are not judged", c.api, way)
			}
		}
	}
}

func TestToolsThatCannotBeSent(t *testing.T) {
	for _, c := range []struct{ api, tools, want string }{
		{"completions", lampTool, "the completions API takes none; use the chat, responses or messages API"},
		{"responses", `[{}]`, "tool 1 has no name"},
		{"chat", `[{"name":"a"},{"name":"a"}]`, `two tools have the name "a"`},
	} {
		api, err := APINamed(c.api)
		if err != nil {
			t.Fatal(err)
		}
		settings := spec.Settings{Tools: listOf(t, c.tools)}
		_, err = api.Encode(&Common{Settings: &settings}, Ask{Prompt: Prompt{Text: "hi"}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.api, err, c.want)
		}
	}
}

// Streams as vLLM, llama-server and Anthropic's API have them.
func TestCallsOfStreams(t *testing.T) {
	want := []toolcall.Call{{Name: "lamp", Arguments: `{"on": true}`}, {Name: "now", Arguments: ""}}
	for _, c := range []struct {
		name, api string
		events    []string
	}{
		{"vLLM", "chat", []string{
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","type":"function","index":0,"function":{"name":"lamp"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"on\": "}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"true}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"b","index":1,"function":{"name":"now","arguments":""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls"}]}`,
		}},
		{"arguments as an object", "chat", []string{
			`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"lamp","arguments":{"on": true}}},{"function":{"name":"now"}}]}}]}`,
		}},
		{"OpenAI", "responses", []string{
			`{"type":"response.output_item.added","output_index":1,"item":{"id":"i1","type":"function_call","name":"lamp","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"i1","delta":"{\"on\": "}`,
			`{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"i1","delta":"true}"}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"id":"i1","type":"function_call","name":"lamp","arguments":"{}"}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"id":"i2","type":"function_call","name":"now","arguments":""}}`,
		}},
		{"llama-server, without numbers", "responses", []string{
			`{"type":"response.output_item.added","item":{"id":"fc_a","arguments":"","name":"lamp","type":"function_call"}}`,
			`{"type":"response.function_call_arguments.delta","delta":"{\"on\": ","item_id":"fc_a"}`,
			`{"type":"response.function_call_arguments.delta","delta":"true}","item_id":"fc_a"}`,
			`{"type":"response.output_item.added","item":{"id":"fc_b","arguments":"","name":"now","type":"function_call"}}`,
		}},
		{"Anthropic", "messages", []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"lamp","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"on\": true}"}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"u","name":"now","input":{}}}`,
		}},
	} {
		api, err := APINamed(c.api)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, callsIn(t, c.events, api.Parser())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if c.api == "chat" {
			twice := slices.Clone(c.events) // a name that comes twice leaves the event to encoding/json
			for i := range twice {
				twice[i] = `{"object":0,"object":0,` + twice[i][1:]
			}
			slow := callsIn(t, twice, api.Parser())
			if diff := cmp.Diff(want, slow); diff != "" {
				t.Errorf("%s, by encoding/json (-want +got):\n%s", c.name, diff)
			}
		}
	}
}

func TestCallsOfWholeAnswers(t *testing.T) {
	want := []toolcall.Call{{Name: "lamp", Arguments: `{"on":true}`}}
	for api, answer := range map[string]string{
		"chat": `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",` +
			`"function":{"name":"lamp","arguments":"{\"on\":true}"}}]},"finish_reason":"tool_calls"}]}`,
		"responses": `{"status":"completed","output":[{"type":"reasoning","content":[]},{"type":"function_call",` +
			`"id":"a","name":"lamp","arguments":"{\"on\":true}"}]}`,
		"messages": `{"content":[{"type":"text","text":"so"},{"type":"tool_use","id":"a","name":"lamp",` +
			`"input":{"on":true}}],"stop_reason":"tool_use"}`,
	} {
		known, err := APINamed(api)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, callsIn(t, []string{answer}, known.WholeParser())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", api, diff)
		}
	}
}

func listOf(t *testing.T, text string) (list []any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func callsIn(t *testing.T, events []string, parse func([]byte, *event.Chunk) error) []toolcall.Call {
	t.Helper()
	c := new(event.Chunk)
	var calls toolcall.Calls
	for _, event := range events {
		c.Reset()
		if err := parse([]byte(event), c); err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Calls {
			calls.Add(p)
		}
	}
	return calls.List()
}
