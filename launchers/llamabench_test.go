package launchers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestLlamaBenchCommand(t *testing.T) {
	number := func(text string) any { return json.Number(text) }
	tests := []struct {
		name   string
		models []string
		args   []Arg
		want   string // argv, or what the error says
		fails  bool
	}{
		{name: "plain", models: []string{"/m/a.gguf"}, want: "llama-bench -m /m/a.gguf -r 5 -o jsonl"},
		{
			name: "several models", models: []string{"/m/a.gguf", "/m/b.gguf"}, args: []Arg{{"n-gpu-layers", number("99")}},
			want: "llama-bench -m /m/a.gguf -m /m/b.gguf --n-gpu-layers 99 -r 5 -o jsonl",
		},
		{
			name: "sweeps", models: []string{"a.gguf"},
			args: []Arg{{"n-prompt", []any{number("512"), number("1024")}}, {"n-gen", number("128")}, {"fa", []any{false, true}}, {"pg", []any{"512,128", "8,4"}}},
			want: "llama-bench -m a.gguf --n-prompt 512,1024 --n-gen 128 -fa 0,1 -pg 512,128 -pg 8,4 -r 5 -o jsonl",
		},
		{
			name: "truths", models: []string{"a.gguf"}, args: []Arg{{"flash-attn", true}, {"mmp", false}, {"no-warmup", true}, {"progress", false}},
			want: "llama-bench -m a.gguf --flash-attn 1 -mmp 0 --no-warmup -r 5 -o jsonl",
		},
		{name: "no model", want: "model: missing", fails: true},
		{name: "a comma", models: []string{"a,b.gguf"}, want: "holds a comma", fails: true},
		{name: "an option for a model", models: []string{"-x"}, want: "no path", fails: true},
		{name: "what bench sets", models: []string{"a.gguf"}, args: []Arg{{"r", number("3")}}, want: "r is set by bench", fails: true},
		{name: "twice the same", models: []string{"a.gguf"}, args: []Arg{{"fa", true}, {"flash_attn", true}}, want: "are one option", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kind := LlamaBench(tt.models, "-r", "5", "-o", "jsonl")
			command, err := Plan(kind, Spec{Args: tt.args, Env: map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"}})
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

// Lines as builds of llama-bench write them when they cannot go on.
func TestLlamaBenchFatalLines(t *testing.T) {
	tests := []struct {
		lines string
		want  results.FailureClass
	}{
		{"error: invalid parameter for argument: -mmp\nusage: llama-bench [options]", results.FailBadFlag},
		{"error: invalid range format\nerror: invalid parameter for argument: -p", results.FailBadFlag},
		{"gguf_init_from_file: failed to open GGUF file 'nope.gguf' (No such file or directory)\nllama_bench: error: failed to load model 'nope.gguf'", results.FailModel},
		{"llama_model_load: error loading model: tensor 'token_embd.weight' data is not within the file bounds, model is corrupted or incomplete", results.FailModel},
		{"main: error: failed to load model '/m/a.gguf'", results.FailModel},
		{"llama_model_load: error loading model: unable to allocate ROCm0 buffer", results.FailOutOfMemory},
		{"llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache", results.FailOutOfMemory},
		{"main: error: failed to create context with model '/m/a.gguf'", results.FailOutOfMemory},
		{"ROCm error: out of memory", results.FailOutOfMemory},
		{"ROCm error: unspecified launch failure", results.FailGPU},
	}
	for _, tt := range tests {
		log := &serverLog{kind: LlamaBench([]string{"m"})}
		for line := range strings.Lines(tt.lines) {
			log.take(strings.TrimSpace(line), false)
		}
		if match := log.fatalLine(); match == nil || match.kind.Class != tt.want {
			t.Errorf("%q is taken for %v, want %s", tt.lines, match, tt.want)
		}
	}
}
