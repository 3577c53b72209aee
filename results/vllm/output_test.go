package vllm

import (
	"fmt"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestRead(t *testing.T) {
	stream := func(kinds string, change func(*results.Record)) *results.Record {
		r := &results.Record{
			SentS: new(1.0), IntendedS: 0.5, ChunkKinds: kinds, LocalInputTokens: new(7),
			OutputTokensSource: results.CountUsage,
		}
		for i := range kinds {
			r.ChunkS = append(r.ChunkS, float64(i+2))
		}
		if change != nil {
			change(r)
		}
		return r
	}
	usage := func(r *results.Record) { r.InputTokens, r.OutputTokens = new(9), new(5) }
	for _, tt := range []struct {
		name   string
		record *results.Record
		g      results.Generation
		api    string
		want   string // success, TTFT, gaps, latency, prompt, output
		asked  bool   // for usage
	}{
		{"December 2024, usage because it was asked for", stream("ttu", func(r *results.Record) {
			r.DoneS, r.TextTokens = new(9.0), new(2)
		}), results.VLLM06, "completions", "true 1 [1] 8 7 2", true},
		{"usage of its own event", stream("rttfu", usage), results.VLLM, "chat", "true 1 [1 1 1] 4 9 5", false},
		{"the same before April 2026", stream("rttfu", usage), results.VLLM010, "chat", "true 1 [1 1 1] 5 7 5", false},
		{
			"the same as completions", stream("rttfu", usage), results.VLLM010, "completions",
			"true 1 [1 1 1] 4 7 5", false,
		},
		{"usage beside choices", stream("tt", usage), results.VLLM, "completions", "true 1 [1] 2 7 null", false},
		{
			"usage beside choices, text counted",
			stream("tt", func(r *results.Record) { usage(r); r.TextTokens = new(4) }),
			results.VLLM,
			"completions", "true 1 [1] 2 7 4", false,
		},
		{"the server's tokenizer", stream("tt", func(r *results.Record) {
			r.OutputTokens, r.OutputTokensSource = new(3), results.CountTokenize
		}), results.VLLM, "completions", "true 1 [1] 2 7 3", false},
		{
			"reasoning is not in its text",
			stream("kt", func(r *results.Record) { r.TextTokens = new(4) }), results.VLLM, "chat",
			"true 1 [1] 2 7 null", false,
		},
		{"no text", stream("e", nil), results.VLLM, "completions", "true 1 [] 1 7 0", false},
		{"no choices", stream("u", usage), results.VLLM, "chat", "false 0 [] 0 9 0", false},
		{"no choices in May 2026", stream("u", usage), results.VLLM2605, "chat", "true 0 [] 1 9 5", false},
		{"an error after a token", stream("tx", func(r *results.Record) {
			r.Failure = results.Failf(results.FailInBand, "boom")
			r.TextTokens = new(1)
		}), results.VLLM, "completions", "true 1 [] 1 7 1", false},
		{
			"cut",
			stream("tt", func(r *results.Record) { r.Failure = results.Failf(results.FailTransport, "reset") }),
			results.VLLM, "completions",
			"false 1 [1] 0 7 0", false,
		},
		{
			"December 2024",
			stream("rtet", func(r *results.Record) { r.DoneS, r.TextTokens = new(9.0), new(2) }), results.VLLM06,
			"completions", "true 2 [2] 8 7 2", false,
		},
		{
			"December 2024, chat",
			stream("rtet", func(r *results.Record) { r.DoneS, r.TextTokens = new(9.0), new(2) }), results.VLLM06,
			"chat", "true 2 [1] 8 7 2", false,
		},
		{"December 2024, no [DONE]", stream("tt", nil), results.VLLM06, "completions", "false 1 [1] 0 7 0", false},
		{
			"December 2024, usage",
			stream("ttu", func(r *results.Record) { r.DoneS = new(9.0) }), results.VLLM06, "completions",
			"false 1 [1] 0 7 0", false,
		},
		{"another reading of the reads", stream("tt", func(r *results.Record) {
			r.TextTokens = new(2)
			r.VLLMReading = map[results.Generation]results.ClientReading{results.VLLM: {
				ChunkS: []float64{2.5}, ChunkKinds: "t",
				TextDiffers: true,
			}}
		}), results.VLLM, "completions", "true 1.5 [] 1.5 7 null", false},
		{"a reading that failed", stream("tt", func(r *results.Record) {
			r.VLLMReading = map[results.Generation]results.ClientReading{results.VLLM: {Error: "not JSON"}}
		}), results.VLLM2605, "completions", "false 0 [] 0 7 0", false},
	} {
		o, made := Read(tt.record, tt.g, tt.api, tt.asked)
		number := func(n *int) string {
			if n == nil {
				return "null"
			}
			return fmt.Sprint(*n)
		}
		got := fmt.Sprintf("%v %g %v %g %s %s", o.Success, o.TTFTS, append([]float64{}, o.ITLS...), o.LatencyS,
			number(o.PromptLen), number(o.OutputLen))
		// the server's words of an error in a stream are kept, whatever vLLM's client made of it
		inBand := tt.record.Failure != nil && tt.record.Failure.Class == results.FailInBand
		if got != tt.want || !made || o.QueueS != 0.5 || !inBand && o.Success != (o.Error == "") {
			t.Errorf("%s: Read(%s, %s) = %s (%q), want %s", tt.name, tt.g, tt.api, got, o.Error, tt.want)
		}
	}
	ended := &results.Record{Failure: results.Failf(results.FailCanceled, "ended")}
	if _, made := Read(ended, results.VLLM, "chat", true); made {
		t.Error("a request that was never sent was made, says Read")
	}
}
