package bundle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

// measured is a step of a real engine, as its result describes it.
func measured() *results.Result {
	return &results.Result{
		Scenario: "night", Run: "id", Step: results.StepRef{ID: "a_c8_r2", Variant: "a", Point: "c8", Repeat: 2},
		Servers: []results.Server{{
			Launcher: "vllm", BaseURL: "http://127.0.0.1:8003", Model: "m", GPUs: []int{0},
			Argv: []string{"vllm", "serve", "m", "--host", "127.0.0.1", "--port=8003", "--max-num-seqs", "8003x"},
			Env:  map[string]string{"CUDA_VISIBLE_DEVICES": "0", "BENCH_COOKIE": "c"},
		}},
		Asked: results.Asked{
			Endpoint: "/v1/completions", API: "completions", Dataset: "random", Seed: 7, NumPrompts: 16,
			MaxConcurrency: new(8), InputLen: new(32), OutputLen: new(4),
			IgnoreEOS: true, Warmups: 1, Burstiness: new(1.0),
			Body: `{"model":"m","prompt":"x...","max_tokens":4,"stream":true,"ignore_eos":true,"top_p":0.9}`,
		},
	}
}

func TestDerive(t *testing.T) {
	text, err := Derive(measured())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(strings.Join(lines, "")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"schema": 1.0, "name": "night", "variants": []any{map[string]any{"name": "a"}},
		"server": map[string]any{
			"launcher": "command", "gpus": "none", "model": "m", "served-name": "m",
			"env":     map[string]any{"CUDA_VISIBLE_DEVICES": "0"},
			"command": []any{"vllm", "serve", "m", "--host", "${host}", "--port=${port}", "--max-num-seqs", "8003x"},
		},
		"load": map[string]any{
			"endpoint": "completions", "ignore-eos": true, "warmups": 1.0, "body": map[string]any{"top_p": 0.9},
			"dataset": map[string]any{"kind": "random", "seed": 7.0, "vary": false},
			"sweep": []any{map[string]any{
				"num-prompts": 16.0, "label": "c8", "max-concurrency": 8.0,
				"input-len": 32.0, "output-len": 4.0,
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Derive (-want +got):\n%s", diff)
	}
}

func TestDeriveTokenIDs(t *testing.T) {
	r := measured()
	r.Asked.Body = `{"model":"m","prompt":[1,2],"max_tokens":4}`
	if text, err := Derive(r); err != nil || !strings.Contains(string(text), `"tokens": "ids"`) {
		t.Errorf("Derive = %s, %v, want token ids", text, err)
	}
}

func TestDeriveRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*results.Result)
		want   string
	}{
		{"hidden argument", func(r *results.Result) { r.Servers[0].Argv[2] = "--key=***" }, `argument "--key=***"`},
		{"hidden variable", func(r *results.Result) { r.Servers[0].Env["HF_TOKEN"] = "***" }, "variable HF_TOKEN"},
		{"replicas", func(r *results.Result) { r.Servers = append(r.Servers, r.Servers[0]) }, "2 replicas"},
		{"imported", func(r *results.Result) { r.Imported = &results.Origin{} }, "imported"},
		{"no server", func(r *results.Result) { r.Servers = nil }, "no server"},
		{"ramp", func(r *results.Result) { r.Asked.Ramp = &results.Ramp{} }, "ramp"},
		{"two passes", func(r *results.Result) { r.SQZB = &results.SQZB{} }, "method"},
		{"simulator in disguise", func(r *results.Result) { r.Servers[0].Simulated = true }, "simulator"},
		{"nothing asked", func(r *results.Result) { r.Asked = results.Asked{} }, "nothing was asked"},
	}
	for _, test := range tests {
		r := measured()
		test.change(r)
		if text, err := Derive(r); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Derive = %s, %v, want an error with %q", test.name, text, err, test.want)
		}
	}
}
