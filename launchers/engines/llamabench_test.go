package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestLlamaBenchCommand(t *testing.T) {
	number := func(text string) any { return json.Number(text) }
	tests := []struct {
		name   string
		models []string
		args   []recipe.Arg
		want   string // argv, or what the error says
		fails  bool
	}{
		{name: "plain", models: []string{"/m/a.gguf"}, want: "llama-bench -m /m/a.gguf -r 5 -o jsonl"},
		{
			name: "several models", models: []string{"/m/a.gguf", "/m/b.gguf"},
			args: []recipe.Arg{{Name: "n-gpu-layers", Value: number("99")}},
			want: "llama-bench -m /m/a.gguf -m /m/b.gguf --n-gpu-layers 99 -r 5 -o jsonl",
		},
		{
			name: "sweeps", models: []string{"a.gguf"},
			args: []recipe.Arg{
				{Name: "n-prompt", Value: []any{number("512"), number("1024")}},
				{Name: "n-gen", Value: number("128")},
				{Name: "fa", Value: []any{false, true}},
				{Name: "pg", Value: []any{"512,128", "8,4"}},
			},
			want: "llama-bench -m a.gguf --n-prompt 512,1024 --n-gen 128 -fa 0,1 -pg 512,128 -pg 8,4 -r 5 -o jsonl",
		},
		{
			name: "truths", models: []string{"a.gguf"}, args: []recipe.Arg{
				{Name: "flash-attn", Value: true},
				{Name: "mmp", Value: false},
				{Name: "no-warmup", Value: true},
				{Name: "progress", Value: false},
			},
			want: "llama-bench -m a.gguf --flash-attn 1 -mmp 0 --no-warmup -r 5 -o jsonl",
		},
		{name: "no model", want: "model: missing", fails: true},
		{name: "a comma", models: []string{"a,b.gguf"}, want: "holds a comma", fails: true},
		{name: "an option for a model", models: []string{"-x"}, want: "not the path", fails: true},
		{
			name: "what bench sets", models: []string{"a.gguf"}, args: []recipe.Arg{{Name: "r", Value: number("3")}},
			want: "r is set by bench", fails: true,
		},
		{name: "twice the same", models: []string{"a.gguf"}, args: []recipe.Arg{
			{Name: "fa", Value: true},
			{Name: "flash_attn", Value: true},
		}, want: "are one option", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kind := LlamaBench(tt.models, "-r", "5", "-o", "jsonl")
			command, err := kind.Command(recipe.Spec{
				Args: tt.args,
				Env:  map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"},
			})
			if tt.fails {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Plan = %v, want an error with %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(command.Argv, " "); got != tt.want {
				t.Errorf("argv = %s, want %s", got, tt.want)
			}
			if command.Env["ROCBLAS_USE_HIPBLASLT"] != "1" {
				t.Errorf("env = %v, want the variant's", command.Env)
			}
		})
	}
}
