package engines

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// simulatorKind is the server embedded in our own program. It speaks as vLLM
// does and needs no GPU.
func simulatorKind() Kind {
	kind := vllmProtocol()
	kind.Name = "simulator"
	kind.QuickStart, kind.Template = true, simulatorTemplate
	kind.DefaultPort = 8000
	kind.StopGrace = 10 * time.Second
	kind.Simulated = true
	kind.Command = simulatorCommand
	kind.Args.WorldSize = unknownSize
	kind.Log.Fatal = append(kind.Log.Fatal,
		logs.Fatal(results.FailBadFlag, "see: bench simulate --help", `unknown flag: --`))
	return kind.started()
}

// SimulatedLlama is the name of the kind that stands in for llama-server where a
// scenario is simulated.
const SimulatedLlama = "simulator-llamacpp"

// simulatedLlamaKind is the simulator in the dialect of llama-server. No
// scenario names it: it stands in for llamacpp where a scenario is simulated.
func simulatedLlamaKind() Kind {
	kind := llamacppKind()
	kind.Name, kind.Title = SimulatedLlama, ""
	kind.StopGrace = 10 * time.Second
	kind.Simulated = true
	kind.API.ServedName = servedOrModel
	kind.API.Owners, kind.Program = nil, Program{}
	kind.Args.Drafts, kind.Args.Retired, kind.Args.Conflicts = nil, nil, nil
	kind.Command = func(s recipe.Spec) (recipe.Command, error) {
		s.Args = append([]recipe.Arg{{Name: "sim-persona", Value: "llamacpp"}}, s.Args...)
		return simulatorCommand(s)
	}
	kind.Image.Entry = nil
	kind.Log.Fatal = append(kind.Log.Fatal, simulatorKind().Log.Fatal...)
	return kind.started()
}

// simulatorCommand builds `bench simulate --model MODEL ...`; Binary is our own
// program. Without a model the simulator takes its default. Options have
// vLLM's names in their long form; false is --name=false.
func simulatorCommand(s recipe.Spec) (recipe.Command, error) {
	if len(s.Binary) == 0 {
		return recipe.Command{}, fmt.Errorf("binary: missing: the path of the bench program itself")
	}

	spelling := simulatorSpelling()
	if err := knownToSimulator(spelling, s.Args); err != nil {
		return recipe.Command{}, err
	}

	options, err := spelling.Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := append(s.Binary, "simulate", "--host", host, "--port", port)
	if s.Model != "" {
		argv = append(argv, spelling.Pair("--model", s.Model)...)
	}
	if s.ServedName != "" {
		argv = append(argv, spelling.Pair("--served-model-name", s.ServedName)...)
	}
	if s.APIKey != "" {
		argv = append(argv, spelling.Pair("--api-key", s.APIKey)...)
	}

	return recipe.Assemble(s, append(argv, options...), nil)
}

// SimulatorOptions are the options of bench simulate (a test compares).
const SimulatorOptions = `
api-key async-scheduling attention-backend block-size chat-template compilation-config cpu-offload-gb ctx-size
device disable-custom-all-reduce disable-frontend-multiprocessing disable-log-requests disable-log-stats
disable-logprobs-during-spec-decoding disable-uvicorn-access-log distributed-executor-backend download-dir dtype
enable-auto-tool-choice enable-chunked-prefill enable-log-requests enable-lora enable-prefix-caching
enable-prompt-tokens-details enforce-eager generation-config gpu-memory-utilization host kv-cache-dtype kv-unified
load-format lora-modules max-model-len max-num-batched-tokens max-num-seqs max-seq-len-to-capture mmproj model
multi-step-stream-outputs
no-enable-chunked-prefill no-enable-prefix-caching no-enable-prompt-tokens-details num-scheduler-steps
num-speculative-tokens parallel pipeline-parallel-size port preemption-mode quantization revision root-path
scheduler-delay-factor scheduling-policy seed served-model-name shutdown-timeout
sim-acceptance sim-decode sim-device sim-fault
sim-fault-text sim-kv-blocks sim-life-noise sim-load-time sim-model sim-noise sim-persona sim-prefill sim-speed
sim-bad-tool-calls sim-stats-interval sim-tool-calls sim-truth sim-vocab-size speculative-config
speculative-draft-tensor-parallel-size
speculative-model swap-space tensor-parallel-size tokenizer tokenizer-mode trust-remote-code use-v2-block-manager
uvicorn-log-level
`

// knownToSimulator refuses options that bench simulate does not have.
func knownToSimulator(spelling recipe.Spelling, args []recipe.Arg) error {
	known := strings.Fields(SimulatorOptions)
	for _, arg := range args {
		name := spelling.Key(arg.Name)
		if slices.Contains(known, name) || arg.Value == nil {
			continue
		}
		hint := "see bench simulate --help"
		if near := text.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("args: %s: the simulator has no such option: %s", arg.Name, hint)
	}
	return nil
}

func simulatorSpelling() recipe.Spelling {
	s := vllmSpelling()
	s.Engine = "the simulator"
	s.Rename = func(arg recipe.Arg) recipe.Arg {
		arg.Name = vllmCanonical(arg.Name)
		return arg
	}
	s.Short = nil
	s.Falsehood = func(name string) string { return "--" + name + "=false" }
	s.List = func(string) recipe.ListForm { return recipe.Repeated }
	return s
}

// SimulatorOwner is whom bench simulate lists as the owner of its models.
const SimulatorOwner = "bench-simulator"

// simulatorTemplate is the starter scenario.
var simulatorTemplate = starterHead("the embedded simulator: no GPU needed, and no real figures", "simulator") +
	`server:                            # shared by all variants
  launcher: simulator
  model: simulated/Llama-3.1-8B-Instruct
  args:                            # vLLM's spelling, and sim-* for the simulation itself
    sim-model: llama-8b            # whose size it assumes
    sim-device: mi300x
    sim-speed: 10                  # ten times faster than the simulated engine
    sim-load-time: 5s
    max-num-seqs: 256
  ready: {timeout: 1m, stall: 30s}

variants:
  - name: tp1
    args: {tensor-parallel-size: 1}
  - name: tp2
    args: {tensor-parallel-size: 2}

load:
  endpoint: completions            # or chat
  dataset: {kind: random, seed: 0} # or sharegpt, jsonl with path: FILE
  num-prompts: 32
  input-len: 256
  output-len: 32
  sweep: {max-concurrency: [1, 4, 16]}

repeats: 1                         # differences need repeats
order: interleaved
restart: variant
on-failure: continue
deadlines: {step: 30m, run: 12h}
`
