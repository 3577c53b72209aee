package studies

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestDraftingOf(t *testing.T) {
	for _, tt := range []struct {
		launcher, argv string
		want           drafting
	}{
		{"llamacpp", "llama-server -md d.gguf --draft-max 8", drafting{8, "d.gguf"}},
		{"llamacpp", "llama-server --spec-draft-model d.gguf --spec-draft-n-max 8", drafting{8, "d.gguf"}},
		{"vllm", `vllm serve m -sc {"num_speculative_tokens":3,"method":"mtp"}`, drafting{3, "mtp"}},
		{"vllm", "vllm serve m --speculative_model=d --num_speculative_tokens 5", drafting{5, "d"}},
	} {
		if got := DraftingOf(results.Server{Launcher: tt.launcher, Argv: strings.Fields(tt.argv)}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.argv, got, tt.want)
		}
	}
}
