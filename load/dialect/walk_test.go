package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzWalk: the members are those that encoding/json sees.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":{"c":[1,2]},"a":"x"}`, ` { "\u0061" : null } `, `[1]`, `"x"`, `{`, `{}`, `{"a":1}x`,
		`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, `{"\ud83d":"\ud83d\ude00"}`,
		`{"é":-0.5e3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		err := walk(data, func(name, value []byte) { got[strings.ToValidUTF8(string(name), "\ufffd")] = string(value) })
		if (err == nil) != json.Valid(data) {
			t.Fatalf("walk(%q) = %v, but json.Valid says %v", data, err, json.Valid(data))
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil {
			want = nil
		}
		for name, value := range want {
			if clean := strings.ToValidUTF8(name, "\ufffd"); strings.ToValidUTF8(got[clean],
				"\ufffd") != strings.ToValidUTF8(string(value), "\ufffd") && !strings.Contains(clean, "\ufffd") {
				t.Errorf("walk(%q): member %q is %q, want %q", data, name, got[clean], value)
			}
		}
		if len(want) == 0 && len(got) > 0 || len(got) > len(want) {
			t.Errorf("walk(%q) visits %q, want %q", data, got, want)
		}
	})
}

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
			c, again := new(Chunk), new(Chunk)
			err := api.Parser()(data, c)
			if want := json.Valid(data) || (isDone(data) && !api.Lines); (err == nil) != want {
				t.Fatalf("%s: parse(%q) = %v, want success: %v", api.Name, data, err, want)
			}
			if c.Fault != nil && FaultMessage(c.Fault, 100) == "" {
				t.Errorf("%s: error %q has no words", api.Name, c.Fault)
			}
			_ = api.WholeParser()(data, again)
			_ = api.Parser()(data, again)
			if diff := cmp.Diff(seen(c), seen(again), cmp.AllowUnexported(TokenCounts{}, DraftCounts{})); diff != "" {
				t.Errorf("%s: parse(%q) differs the second time:\n%s", api.Name, data, diff)
			}
		}
	})
}
