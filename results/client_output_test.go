package results

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"
)

func TestSeenBy(t *testing.T) {
	stream := func(kinds string, change func(*Record)) *Record {
		r := &Record{
			SentS: new(1.0), IntendedS: 0.5, ChunkKinds: kinds, LocalInputTokens: new(7),
			OutputTokensSource: CountUsage,
		}
		for i := range kinds {
			r.ChunkS = append(r.ChunkS, float64(i+2))
		}
		if change != nil {
			change(r)
		}
		return r
	}
	usage := func(r *Record) { r.InputTokens, r.OutputTokens = new(9), new(5) }
	for _, tt := range []struct {
		name   string
		record *Record
		g      Generation
		api    string
		want   string // success, TTFT, gaps, latency, prompt, output
		asked  bool   // for usage
	}{
		{"December 2024, usage because it was asked for", stream("ttu", func(r *Record) {
			r.DoneS, r.TextTokens = new(9.0), new(2)
		}), VLLM06, "completions", "true 1 [1] 8 7 2", true},
		{"usage of its own event", stream("rttfu", usage), VLLM, "chat", "true 1 [1 1 1] 4 9 5", false},
		{"the same before April 2026", stream("rttfu", usage), VLLM010, "chat", "true 1 [1 1 1] 5 7 5", false},
		{"the same as completions", stream("rttfu", usage), VLLM010, "completions", "true 1 [1 1 1] 4 7 5", false},
		{"usage beside choices", stream("tt", usage), VLLM, "completions", "true 1 [1] 2 7 null", false},
		{
			"usage beside choices, text counted", stream("tt", func(r *Record) { usage(r); r.TextTokens = new(4) }),
			VLLM,
			"completions", "true 1 [1] 2 7 4", false,
		},
		{"the server's tokenizer", stream("tt", func(r *Record) {
			r.OutputTokens, r.OutputTokensSource = new(3), CountTokenize
		}), VLLM, "completions", "true 1 [1] 2 7 3", false},
		{
			"reasoning is not in its text", stream("kt", func(r *Record) { r.TextTokens = new(4) }), VLLM, "chat",
			"true 1 [1] 2 7 null", false,
		},
		{"no text", stream("e", nil), VLLM, "completions", "true 1 [] 1 7 0", false},
		{"no choices", stream("u", usage), VLLM, "chat", "false 0 [] 0 9 0", false},
		{"no choices in May 2026", stream("u", usage), VLLM2605, "chat", "true 0 [] 1 9 5", false},
		{"an error after a token", stream("tx", func(r *Record) {
			r.Failure = Failf(FailInBand, "boom")
			r.TextTokens = new(1)
		}), VLLM, "completions", "true 1 [] 1 7 1", false},
		{
			"cut", stream("tt", func(r *Record) { r.Failure = Failf(FailTransport, "reset") }), VLLM, "completions",
			"false 1 [1] 0 7 0", false,
		},
		{
			"December 2024", stream("rtet", func(r *Record) { r.DoneS, r.TextTokens = new(9.0), new(2) }), VLLM06,
			"completions", "true 2 [2] 8 7 2", false,
		},
		{
			"December 2024, chat", stream("rtet", func(r *Record) { r.DoneS, r.TextTokens = new(9.0), new(2) }), VLLM06,
			"chat", "true 2 [1] 8 7 2", false,
		},
		{"December 2024, no [DONE]", stream("tt", nil), VLLM06, "completions", "false 1 [1] 0 7 0", false},
		{
			"December 2024, usage", stream("ttu", func(r *Record) { r.DoneS = new(9.0) }), VLLM06, "completions",
			"false 1 [1] 0 7 0", false,
		},
		{"another reading of the reads", stream("tt", func(r *Record) {
			r.TextTokens = new(2)
			r.VLLMReading = map[Generation]ClientReading{VLLM: {
				ChunkS: []float64{2.5}, ChunkKinds: "t",
				TextDiffers: true,
			}}
		}), VLLM, "completions", "true 1.5 [] 1.5 7 null", false},
		{"a reading that failed", stream("tt", func(r *Record) {
			r.VLLMReading = map[Generation]ClientReading{VLLM: {Error: "not JSON"}}
		}), VLLM2605, "completions", "false 0 [] 0 7 0", false},
	} {
		o, made := tt.record.SeenBy(tt.g, tt.api, tt.asked)
		number := func(n *int) string {
			if n == nil {
				return "null"
			}
			return fmt.Sprint(*n)
		}
		got := fmt.Sprintf("%v %g %v %g %s %s", o.Success, o.TTFTS, append([]float64{}, o.ITLS...), o.LatencyS,
			number(o.PromptLen), number(o.OutputLen))
		// the server's words of an error in a stream are kept, whatever vLLM's client made of it
		inBand := tt.record.Failure != nil && tt.record.Failure.Class == FailInBand
		if got != tt.want || !made || o.QueueS != 0.5 || !inBand && o.Success != (o.Error == "") {
			t.Errorf("%s: SeenBy(%s, %s) = %s (%q), want %s", tt.name, tt.g, tt.api, got, o.Error, tt.want)
		}
	}
	if _, made := (&Record{Failure: Failf(FailCanceled, "ended")}).SeenBy(VLLM, "chat", true); made {
		t.Error("a request that was never sent was made, says SeenBy")
	}
}

func FuzzPythonString(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\x00\x7f", "é漢😀", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := pythonString(s)
		for _, c := range quoted {
			if c > 0x7f {
				t.Fatalf("pythonString(%q) = %s, not ASCII", s, quoted)
			}
		}
		var back string
		if err := json.Unmarshal([]byte(quoted), &back); err != nil || utf8.ValidString(s) && back != s {
			t.Fatalf("pythonString(%q) = %s, which reads as %q (%v)", s, quoted, back, err)
		}
	})
}
