package dialect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrig/bench/load/dialect/event"
)

// FuzzNative: no event upsets the parsers of the native APIs; they take all
// JSON and nothing else, and a second reading gives the same.
func FuzzNative(f *testing.F) {
	for _, s := range []string{
		`{"content":"a","stop":true,"stop_type":"limit","tokens_predicted":5,"timings":{"prompt_n":1,"cache_n":4,"predicted_n":5}}`,
		`{"token":{"text":"a","special":false},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2}}`,
		`{"text":"a","meta_info":{"finish_reason":{"type":"abort","message":"m"},"completion_tokens":1}}`,
		`{"message":{"content":"a","thinking":"b","tool_calls":[1]},"done":true,"done_reason":"stop","eval_count":3}`,
		`{"error":{"message":"m"},"generated_text":null,"token":null,"meta_info":[],"stop":1}`, `[DONE]`,
		`{"generated_text":"","text":"\ud83d"}`,
		`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"error","error":null,"message":""}`,
		`{"type":"response.completed","response":{"status":"failed","usage":{"input_tokens":1},"incomplete_details":{"reason":"x"}}}`,
		`{"object":"response","status":"completed","output":[{"type":"message","content":[{"text":"a"}]}]}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_read_input_tokens":2}}}`,
		`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"a"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":0}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, api := range APIs()[2:] {
			c, again := new(event.Chunk), new(event.Chunk)
			err := api.Parser()(data, c)
			if want := json.Valid(data) || !api.Lines && !again.Begin(data); (err == nil) != want {
				t.Fatalf("%s: parse(%q) = %v, want success: %v", api.Name, data, err, want)
			}
			if c.Fault != nil && event.FaultMessage(c.Fault, 100) == "" {
				t.Errorf("%s: error %q has no words", api.Name, c.Fault)
			}
			_ = api.WholeParser()(data, again)
			_ = api.Parser()(data, again)
			if diff := cmp.Diff(c, again, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(event.Chunk{})); diff != "" {
				t.Errorf("%s: parse(%q) differs the second time:\n%s", api.Name, data, diff)
			}
		}
	})
}
