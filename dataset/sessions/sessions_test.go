package sessions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// described is a session in short: its id and start, and for each request its
// lengths, whether it is whole, what it waits for and for how long.
func described(s Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%g:", s.ID, s.StartS)
	for _, r := range s.Requests {
		kind := "added"
		if r.Whole {
			kind = "whole"
		}
		fmt.Fprintf(&b, " %d/%d %s", r.Input, r.Output, kind)
		if r.After != nil {
			fmt.Fprintf(&b, " after %v", r.After)
		}
		if r.WaitS != nil {
			fmt.Fprintf(&b, " +%.3g", *r.WaitS)
		}
		b.WriteString(";")
	}
	return b.String()
}

const spans = `{"resourceSpans":[{"scopeSpans":[{"spans":[
 {"traceId":"t1","startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000","attributes":[
  {"key":"gen_ai.usage.input_tokens","value":{"intValue":"100"}},
  {"key":"gen_ai.usage.output_tokens","value":{"intValue":"20"}}]},
 {"traceId":"t1","startTimeUnixNano":"2100000000","endTimeUnixNano":"2400000000","attributes":[
  {"key":"tool","value":{"stringValue":"ls"}}]},
 {"traceId":"t1","startTimeUnixNano":"2500000000","endTimeUnixNano":"4000000000","attributes":[
  {"key":"gen_ai.usage.input_tokens","value":{"intValue":170}},
  {"key":"gen_ai.usage.output_tokens","value":{"intValue":30}}]},
 {"traceId":"t1","startTimeUnixNano":"2600000000","endTimeUnixNano":"3000000000","attributes":[
  {"key":"gen_ai.usage.input_tokens","value":{"intValue":40}},
  {"key":"gen_ai.usage.output_tokens","value":{"intValue":5}}]}
]}]}]}`

func TestRead(t *testing.T) {
	tests := []struct {
		name, text string
		n          int
		block      int
		want       []string
	}{
		{
			name: "rows of sessions", n: 9, text: `
{"session_id": "b", "timestamp": 2000, "input_length": 7, "output_length": 0}
{"session_id": "a", "timestamp": 1000, "input_length": 600, "output_length": 50, "hash_ids": [1, 2]}
{"session_id": "a", "delay": 500, "input_length": 10, "output_length": 5}
{"timestamp": 3000, "input_length": 8, "output_length": 2}`,
			want: []string{
				"a@0: 600/50 whole; 10/5 added after [0] +0.5;", "b@1: 7/1 whole;", "row 4@2: 8/2 whole;",
			},
		},
		{
			name: "rows whose prompts grow", n: 9, text: `
{"session_id": 1, "timestamp": 0, "input_length": 600, "output_length": 50, "hash_ids": [1, 2]}
{"session_id": 1, "timestamp": 9000, "input_length": 1100, "output_length": 5, "hash_ids": [1, 3, 4]}`,
			want: []string{"1@0: 600/50 whole; 1100/5 whole after [0];"},
		},
		{
			name: "recorded: a fork and a join, and one that starts beside the first", n: 9, text: `
{"session_id": "s", "timestamp": 0, "duration": 1000, "input_length": 10, "output_length": 1, "hash_ids": [1]}
{"session_id": "s", "timestamp": 200, "duration": 100, "input_length": 10, "output_length": 1, "hash_ids": [9]}
{"session_id": "s", "timestamp": 1500, "duration": 1000, "input_length": 20, "output_length": 2, "hash_ids": [1, 2]}
{"session_id": "s", "timestamp": 1600, "duration": 100, "input_length": 30, "output_length": 3, "hash_ids": [7]}
{"session_id": "s", "timestamp": 1800, "duration": 100, "input_length": 40, "output_length": 4, "hash_ids": [7, 8]}
{"session_id": "s", "timestamp": 3000, "duration": 1000, "input_length": 50, "output_length": 5, "hash_ids": [1, 2, 3]}`,
			want: []string{"s@0: 10/1 whole; 10/1 whole after [] +0.2; 20/2 whole after [0 1] +0.5; " +
				"30/3 whole after [0 1] +0.6; 40/4 whole after [3] +0.1; 50/5 whole after [2 4] +0.5;"},
		},
		{
			name: "only the first", n: 1, text: `{"session_id":"x","timestamp":5,"input_length":1,"output_length":1}
{"session_id":"y","timestamp":1,"input_length":2,"output_length":1}`,
			want: []string{"y@0: 2/1 whole;"},
		},
		{
			name: "cache tester", n: 9, block: 64, text: `{"id": "c", "models": ["m"], "block_size": 64, "requests": [
 {"t": 10, "type": "s", "model": "m", "in": 128, "out": 9, "hash_ids": [0, 1], "api_time": 2},
 {"t": 12.5, "type": "subagent", "agent_id": "x", "subagent_type": "y", "requests": [
  {"t": 12.5, "type": "n", "model": "m", "in": 64, "out": 3, "hash_ids": [5], "api_time": 1}]},
 {"t": 14, "type": "n", "model": "m", "in": 200, "out": 4, "hash_ids": [0, 1, 2], "api_time": 1}]}`,
			want: []string{"c@0: 128/9 whole; 64/3 whole after [0] +0.5; 200/4 whole after [1] +0.5;"},
		},
		{
			name: "spans", n: 9, text: spans,
			want: []string{"t1@0: 100/20 whole; 50/30 added after [0] +0.5; 40/5 whole after [0] +0.6;"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, block, err := Read(t.Context(), strings.NewReader(tt.text), tt.n)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range list {
				got = append(got, described(s))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || block != tt.block {
				t.Errorf("blocks of %d, want %d; sessions:\n%s", block, tt.block, diff)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "empty",
		" \n\t":                             "empty",
		"[1]":                               "begins with '['",
		"{":                                 "value 1: ",
		"{}":                                "value 1: no session",
		`{"requests": [], "block_size": 0}`: "block_size 0",
		`{"requests": [{"t": 0, "in": 0}], "block_size": 1}`:                      "request 1: 0 input tokens",
		`{"requests": [], "block_size": 16}`:                                      "no requests",
		`{"input_length": 5}`:                                                     `want "input_length" and "output_length"`,
		`{"input_length": -5, "output_length": 1}`:                                "-5 input tokens",
		`{"input_length": 5, "output_length": 1, "delay": -1}`:                    "wait of -0.001 s",
		`{"input_length": 5, "output_length": 1, "timestamp": 1, "duration": -3}`: "an end at",
		`{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "3"}}]}]}]}]}`: "startTimeUnixNano",
	} {
		_, _, err := Read(t.Context(), strings.NewReader(text), 5)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(spans)
	f.Add(`{"session_id": "a", "timestamp": 1000, "duration": 3, "input_length": 600, "output_length": 50, "hash_ids": [1, 2]}
{"session_id": "a", "timestamp": 2000, "delay": 500, "duration": 1, "input_length": 10, "output_length": 5}`)
	f.Add(`{"id": "c", "block_size": 64, "requests": [{"t": 1, "in": 5, "out": 2, "type": "subagent", "requests": []}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, _, err := Read(t.Context(), strings.NewReader(text), 3)
		if err != nil {
			return
		}
		for _, s := range list {
			for i, r := range s.Requests {
				if r.Input < 1 || r.Output < 1 || r.WaitS != nil && !(*r.WaitS >= 0) || i > 0 && r.After == nil {
					t.Errorf("request %d of %s: %+v", i, s.ID, r)
				}
				for _, before := range r.After {
					if before < 0 || before >= i {
						t.Errorf("request %d waits for %d", i, before)
					}
				}
			}
		}
	})
}
