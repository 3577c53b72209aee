package engines

import (
	"encoding/json"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestDrafts(t *testing.T) {
	t.Parallel()
	config := map[string]any{"model": "small", "num_speculative_tokens": json.Number("5")}
	for _, c := range []struct {
		kind   string
		args   []recipe.Arg
		drafts bool
		tokens int
		known  bool
	}{
		{"vllm", nil, false, 0, true},
		{"vllm", []recipe.Arg{{Name: "num-speculative-tokens", Value: json.Number("5")}}, false, 0, true},
		{"vllm", []recipe.Arg{{Name: "speculative_model", Value: "small"}, {
			Name:  "num_speculative_tokens",
			Value: json.Number("5"),
		}}, true, 5, true},
		{"vllm", []recipe.Arg{{Name: "speculative-config", Value: config}}, true, 5, true},
		{
			"vllm",
			[]recipe.Arg{{Name: "speculative-config", Value: `{"method":"ngram","num_speculative_tokens":4}`}},
			true, 4, true,
		},
		{"vllm", []recipe.Arg{{Name: "speculative-config", Value: nil}}, false, 0, true},
		{"vllm", []recipe.Arg{
			{Name: "speculative-config.method", Value: "eagle"},
			{Name: "speculative-config.num_speculative_tokens", Value: json.Number("3")},
		}, true, 3, true},
		{
			"vllm",
			[]recipe.Arg{{Name: "spec-method", Value: "eagle"}, {Name: "spec-tokens", Value: json.Number("2")}},
			true, 2, true,
		},
		{"simulator", []recipe.Arg{{Name: "speculative-model", Value: "m"}, {
			Name:  "num-speculative-tokens",
			Value: json.Number("5"),
		}}, true, 5, true},
		{
			"llamacpp",
			[]recipe.Arg{{Name: "model-draft", Value: "d.gguf"}, {Name: "draft-max", Value: json.Number("8")}},
			true, 8, true,
		},
		{"llamacpp", []recipe.Arg{{Name: "-md", Value: "d.gguf"}}, true, 0, true},
		{"llamacpp", []recipe.Arg{{Name: "spec-type", Value: "none"}, {Name: "md", Value: "d.gguf"}}, false, 0, true},
		{"llamacpp", []recipe.Arg{{Name: "spec-type", Value: "ngram-simple"}}, true, 0, true},
		{"llamacpp", []recipe.Arg{{Name: "draft-max", Value: json.Number("8")}}, false, 0, true},
		{"sglang", []recipe.Arg{{Name: "speculative-algorithm", Value: "EAGLE"}, {
			Name:  "speculative-num-steps",
			Value: json.Number("3"),
		}}, true, 3, true},
		{"sglang", nil, false, 0, true},
		{"tgi", []recipe.Arg{{Name: "speculate", Value: json.Number("2")}}, true, 2, true},
		{"tgi", []recipe.Arg{{Name: "speculate", Value: json.Number("0")}}, false, 0, true},
		{"external", nil, false, 0, false},
		{"command", nil, false, 0, false},
	} {
		kind, _ := Lookup(c.kind)
		if drafts, tokens, known := Drafts(kind, c.args); drafts != c.drafts || tokens != c.tokens || known != c.known {
			t.Errorf("Drafts(%s, %v) = %v, %d, %v, want %v, %d, %v", c.kind, c.args, drafts, tokens, known, c.drafts,
				c.tokens, c.known)
		}
	}
}
