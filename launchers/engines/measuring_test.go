package engines

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
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
			program, _ := MeasuringProgram(results.MethodLlamaBench)
			kind := program.Kind(tt.models, "-r", "5")
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

// Each program gets the options of its recipe, and bench's own for its output.
func TestMeasuringCommand(t *testing.T) {
	number := func(text string) any { return json.Number(text) }
	three := []recipe.Arg{
		{Name: "npp", Value: []any{number("128"), number("512")}},
		{Name: "ntg", Value: number("32")},
		{Name: "npl", Value: []any{number("1"), number("4")}},
	}
	tests := []struct {
		name, method string
		models       []string
		binary       []string
		args         []recipe.Arg
		output       string
		want         string // argv, or what the error says
		fails        bool
	}{
		{
			name: "batches", method: results.MethodBatchedBench, models: []string{"a.gguf"},
			args: append(three, recipe.Arg{Name: "pps", Value: true}, recipe.Arg{Name: "ngl", Value: number("99")}),
			want: "llama-batched-bench -m a.gguf -npp 128,512 -ntg 32 -npl 1,4 -pps -ngl 99 --output-format jsonl",
		},
		{
			name: "no batch", method: results.MethodBatchedBench, models: []string{"a.gguf"}, args: three[:2],
			want: "npl is missing", fails: true,
		},
		{
			name: "its output is bench's", method: results.MethodBatchedBench, models: []string{"a.gguf"},
			args: append(three, recipe.Arg{Name: "output_format", Value: "md"}), want: "output_format is set by bench",
			fails: true,
		},
		{
			name: "throughput", method: results.MethodVllmThroughput, models: []string{"org/m"},
			args: []recipe.Arg{{Name: "input_len", Value: number("64")}, {Name: "enforce-eager", Value: true}},
			want: "vllm bench throughput --model org/m --input-len 64 --enforce-eager --output-json output.json",
		},
		{
			name: "into the folder of the run", method: results.MethodVllmLatency, models: []string{"m"},
			output: "/runs/lives/01-a/output.json",
			want:   "vllm bench latency --model m --output-json /runs/lives/01-a/output.json",
		},
		{
			name: "the server's program", method: results.MethodVllmStartup, models: []string{"m"},
			binary: []string{"/venv/bin/vllm", "serve"},
			want:   "/venv/bin/vllm bench startup --model m --output-json output.json",
		},
		{
			name: "a module that only serves", method: results.MethodVllmLatency, models: []string{"m"},
			binary: []string{"python", "-m", "vllm.entrypoints.openai.api_server"}, want: "only serves", fails: true,
		},
		{
			name: "simulated", method: results.MethodVllmLatency, models: []string{"m"},
			binary: []string{"/bench", SimulateProgram, results.MethodVllmLatency},
			want:   "/bench simulate-program vllm-latency --model m --output-json output.json",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, ok := MeasuringProgram(tt.method)
			if !ok {
				t.Fatalf("no program %s", tt.method)
			}
			command, err := program.Kind(tt.models).Command(recipe.Spec{
				Binary: tt.binary, Args: tt.args, OutputPath: tt.output,
			})
			if tt.fails {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want one with %q", err, tt.want)
				}
				return
			}
			if got := strings.Join(command.Argv, " "); err != nil || got != tt.want {
				t.Errorf("argv = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}
