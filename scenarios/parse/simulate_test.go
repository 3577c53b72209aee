package parse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/simulate"
)

const simulated = `schema: 1
name: x
description: on a Strix Halo
simulate: {on: true}
`

func simArgsText(v scenarios.Variant) string {
	var out []string
	for _, a := range v.Server.Args {
		out = append(out, fmt.Sprintf("%s=%v", a.Name, a.Value))
	}
	return strings.Join(out, " ")
}

func TestSimulatedServers(t *testing.T) {
	const tail = " sim-device=strix-halo sim-speed=10 sim-life-noise=0.006"
	for _, tc := range []struct{ name, server, launcher, args string }{
		{
			"vllm", "{launcher: vllm, model: m, args: {tp: 8, dtype: half, max_model_len: 4096}}",
			scenarios.SimLauncher,
			"tensor-parallel-size=8 max-model-len=4096" + tail,
		},
		{
			"switch", "{launcher: vllm, model: m, env: {VLLM_SWIZZLE_TENSOR: 1}}", scenarios.SimLauncher,
			"sim-decode=1.02" + tail,
		},
		{"switch off", "{launcher: vllm, model: m, env: {VLLM_SWIZZLE_TENSOR: 0}}", scenarios.SimLauncher, tail[1:]},
		{
			"llama",
			"{launcher: llamacpp, model: a.gguf, args: {c: 4096, np: 16, kvu: true, ngl: 99, md: d.gguf, draft-max: 4}}", engines.SimulatedLlama,
			"ctx-size=4096 parallel=16 kv-unified=true speculative-model=d.gguf num-speculative-tokens=4" + tail,
		},
		{
			"sglang", "{launcher: sglang, model: m, args: {tp-size: 2, context-length: 8192}}", scenarios.SimLauncher,
			"tensor-parallel-size=2 max-model-len=8192" + tail,
		},
		{
			"tgi", "{launcher: tgi, model: m, args: {num-shard: 4, quantize: fp8}}", scenarios.SimLauncher,
			"tensor-parallel-size=4 quantization=fp8" + tail,
		},
		{
			"external", "{launcher: external, base-url: \"http://h:1\", model: m, api-key: \"${env:NOT_SET_KEY}\"}",
			scenarios.SimLauncher, tail[1:],
		},
		{
			"own arguments",
			"{launcher: vllm, model: m, args: {tp: 8}, sim-args: {tensor_parallel_size: 2, sim-speed: 3, sim-fault: " +
				"error@1}}", scenarios.SimLauncher,
			"tensor_parallel_size=2 sim-device=strix-halo sim-speed=3 sim-life-noise=0.006 sim-fault=error@1",
		},
		{
			"numbers of vLLM",
			"{launcher: vllm, model: m, args: {max-model-len: 16k, max-num-batched-tokens: 8K, max-num-seqs: 25.6k}}",
			scenarios.SimLauncher,
			"max-model-len=16000 max-num-batched-tokens=8192 max-num-seqs=25600" + tail,
		},
		{
			"the engine decides", "{launcher: vllm, model: m, args: {max-model-len: auto, max-num-seqs: -1, seed: -1}}",
			scenarios.SimLauncher, tail[1:],
		},
		{
			"llama.cpp decides", "{launcher: llamacpp, model: m.gguf, args: {c: 0, np: -1, kvu: true}}",
			engines.SimulatedLlama, "kv-unified=true" + tail,
		},
		{
			"sglang decides", "{launcher: sglang, model: m, args: {chunked-prefill-size: -1, tp: 2}}",
			scenarios.SimLauncher, "tensor-parallel-size=2" + tail,
		},
		{
			"parts of a config",
			"{launcher: vllm, model: m, args: {speculative-config.method: ngram, " +
				"speculative_config.num_speculative_tokens: 4}}", scenarios.SimLauncher,
			"speculative-config=map[method:ngram num_speculative_tokens:4]" + tail,
		},
		{"already", "{launcher: simulator, args: {sim-speed: 3}}", scenarios.SimLauncher, "sim-speed=3"},
	} {
		s := mustParse(t, simulated+"server: "+tc.server+"\nload: {input-len: 8, output-len: 8}\n", Options{})
		v := s.Variants[0]
		if v.Server.Launcher != tc.launcher || simArgsText(v) != tc.args {
			t.Errorf("%s: simulated as %s with %q, want %s with %q", tc.name, v.Server.Launcher, simArgsText(v),
				tc.launcher, tc.args)
		}
		if len(s.Problems()) > 0 {
			t.Errorf("%s: problems %v, want none: nothing of this machine is needed", tc.name, s.Problems())
		}
	}
}

func TestSimulatedNotes(t *testing.T) {
	src := simulated + `
server: {launcher: llamacpp, model: models/a.gguf, args: {flash-attn: true}}
variants:
  - {name: a, hooks: {before: [{command: [a]}]}}
hooks: {run: {before: [{command: [b]}]}}
checks: [{kind: governor}]
notify: [{command: [mail]}]
load:
  endpoint: /prefix/v1/chat/completions
  dataset: {kind: sharegpt, path: none.json, tokenizer: tok, vary: false, seed: 7}
`
	s := mustParse(t, src, Options{})
	notes := strings.Join(s.SimNotes, "\n")
	for _, want := range []string{
		"flash-attn", "2 hooks, 1 checks, 1 notifications",
		"dataset sharegpt is not on this machine", "counted by the simulator", "10 times the speed",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("SimNotes = %q, want %q in them", notes, want)
		}
	}
	l := s.Points[0]
	if l.Dataset.Kind != "random" || l.Dataset.Seed != 7 || l.InputLen == 0 || l.OutputLen == 0 || !l.IgnoreEOS ||
		l.Note == "" {
		t.Errorf("load = %+v, want random prompts in the place of the file, with a note", l)
	}
	if !strings.HasSuffix(simArgsText(s.Variants[0]), "root-path=/prefix") {
		t.Errorf("arguments %q, want the endpoint's prefix as root-path", simArgsText(s.Variants[0]))
	}
	if n := len(s.Hooks.Run.Before) + len(s.Variants[0].Hooks.Before) + len(s.Checks) + len(s.Notify); n > 0 ||
		!s.Telemetry.Off {
		t.Errorf("%d hooks, checks and notifications are left, telemetry off %v", n, s.Telemetry.Off)
	}
}

// A dataset that is there is used, and the scenario as such stays the same.
func TestSimulatedKeeps(t *testing.T) {
	src := "schema: 1\nserver: {launcher: vllm, model: m, args: {x: 1}}\nsimulate: {device: h100, speed: 2.5}\n" +
		"load: {dataset: {kind: sharegpt, path: there.json}, num-prompts: 64}\n"
	there := func(path string) bool { return strings.HasSuffix(path, "there.json") }
	s := mustParse(t, src, Options{Exists: there, Set: []string{"simulate.on=true"}})
	if l := s.Points[0]; l.Dataset.Kind != "sharegpt" || l.NumPrompts != 64 || l.Note != "" {
		t.Errorf("load = %+v, want the file's prompts", l)
	}
	if got := simArgsText(s.Variants[0]); got != "sim-device=h100 sim-speed=2.5 sim-life-noise=0.006" {
		t.Errorf("arguments %q", got)
	}
	plain := mustParse(t, src, Options{Exists: there})
	if plain.Variants[0].Server.Launcher != "vllm" || plain.SimNotes != nil {
		t.Errorf("without --sim: launcher %s, notes %v", plain.Variants[0].Server.Launcher, plain.SimNotes)
	}
}

func TestSimulatedLlamaBench(t *testing.T) {
	src := simulated +
		"method: llama-bench\nllama-bench: {models: [a.gguf]}\n" +
		"server: {launcher: llamacpp, env: {ROCBLAS_USE_HIPBLASLT: \"1\"}}\n"
	s := mustParse(t, src, Options{})
	if got := s.Program.Binary; !slices.Equal(got[:2], []string{scenarios.BenchProgram, "simulate-program"}) {
		t.Errorf("program %v, want bench's own", got)
	}
	if v := s.Variants[0].Server; len(v.Args) > 0 || v.Env["ROCBLAS_USE_HIPBLASLT"].Value != "1" ||
		len(s.Problems()) > 0 {
		t.Errorf("env %v, problems %v", v.Env, s.Problems())
	}
}

func TestOverlayed(t *testing.T) {
	got := simulate.Overlayed([]scenarios.Arg{{Name: "a-b", Value: json.Number("1")}, {Name: "c", Value: true}},
		[]scenarios.Arg{{Name: "a_b", Value: json.Number("2")}, {Name: "d", Value: "x"}})
	var names []string
	for _, a := range got {
		names = append(names, fmt.Sprintf("%s=%v", a.Name, a.Value))
	}
	if want := "a_b=2 c=true d=x"; strings.Join(names, " ") != want {
		t.Errorf("overlayed = %v, want %s", names, want)
	}
}
