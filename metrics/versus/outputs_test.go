package versus

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// A comparison of quantizations whose second row measured the first one's
// server: the same tokens to the last one.
func TestEqualOutputs(t *testing.T) {
	step := func(variant, model string, tokens int64, change func(*results.Result)) results.Step {
		r := &results.Result{
			Step:    results.StepRef{ID: variant + "_c1_r1", Variant: variant},
			Servers: []results.Server{{Model: model}},
			Figures: &results.Figures{Completed: 36, TotalOutputTokens: &tokens},
		}
		if change != nil {
			change(r)
		}
		return results.Step{Result: r}
	}
	hash := func(sum string) func(*results.Result) {
		return func(r *results.Result) { r.Figures.Answers = &results.Answers{SHA256: &sum} }
	}
	argv := func(words ...string) func(*results.Result) {
		return func(r *results.Result) { r.Servers[0].Argv = words }
	}
	first := step("q8", "llama.Q8_0.gguf", 5870, nil)
	for _, tt := range []struct {
		name       string
		one, other results.Step
		want       string // "": nothing is said
	}{
		{"the same tokens", first, step("q4", "llama.Q4_K_M.gguf", 5870, nil), "q4_c1_r1 gave the same 5870 output tokens in 36 answers as q8_c1_r1, although llama.Q4_K_M.gguf and llama.Q8_0.gguf"},
		{"other tokens", first, step("q4", "llama.Q4_K_M.gguf", 5871, nil), ""},
		{"the same model", first, step("q8-again", "llama.Q8_0.gguf", 5870, nil), ""},
		{"a model not told", first, step("q4", "", 5870, nil), ""},
		{"answers as long as asked", first, step("q4", "llama.Q4_K_M.gguf", 5870, func(r *results.Result) { r.Asked.IgnoreEOS = true }), ""},
		{"few tokens", step("q8", "a", 36, nil), step("q4", "b", 36, nil), ""},
		{"the simulator", first, step("q4", "b", 5870, func(r *results.Result) { r.Simulated = true }), ""},
		{"the same answers", step("q8", "a", 5870, hash("x")), step("q4", "b", 5869, hash("x")), "gave the same answers as"},
		{"engines", step("v", "m", 900, argv("vllm", "serve", "m")), step("s", "m", 900, argv("python", "-m", "sglang.launch_server", "--model-path", "m")), "the same 900 output tokens"},
		{"quantizations by a flag", step("a", "m", 900, argv("vllm", "serve", "m")), step("b", "m", 900, argv("vllm", "serve", "m", "--quantization=fp8")), "the same 900 output tokens"},
		{"another concurrency", step("a", "m", 900, argv("vllm", "serve", "m", "--max-num-seqs", "8")), step("b", "m", 900, argv("vllm", "serve", "m")), ""},
	} {
		got := strings.Join(EqualOutputs([]results.Step{tt.one, tt.other}), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: EqualOutputs = %q, want %q", tt.name, got, tt.want)
		}
	}
}
