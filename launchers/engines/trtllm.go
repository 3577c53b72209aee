package engines

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// trtllmKind is TensorRT-LLM's own OpenAI-compatible server. Its facts are
// from its documentation (0.18 to 1.x); no version has run under bench yet.
// /metrics is JSON about iterations without totals of tokens, so that there
// are not counters.
func trtllmKind() Kind {
	return Kind{
		Name:        "trtllm",
		Title:       "TensorRT-LLM",
		Program:     Program{Name: "trtllm-serve", Package: "tensorrt_llm"},
		DefaultPort: 8000,
		StopGrace:   30 * time.Second,
		Run:         []string{"trtllm-serve"},
		Command:     trtllmCommand,
		NeedsModel:  true,
		LocalModel:  true,
		Template:    trtllmTemplate,
		Args: Args{
			WorldSize:    trtllmWorldSize,
			WeightsOnGPU: hasNone(trtllmSpelling, "extra-llm-api-options", "config"),
			Length:       "max_seq_len",
		},
		Image: Image{
			Name:  "nvcr.io/nvidia/tensorrt-llm/release:latest",
			Entry: []string{"trtllm-serve"},
			// the images' entry point prepares the container and runs what it is given
			Program: []string{"trtllm-serve"},
			Caches:  []container.Cache{hubCache()},
		},
		Caches: Caches{Compile: compiledCode(), Hub: hubFolder()},
		API: API{
			ServedName:  trtllmServedName,
			HealthPath:  "/health",
			ModelsPath:  "/v1/models",
			VersionPath: "/version",
			Owners:      []string{"tensorrt_llm"},
			Describe:    []Description{{Path: "/version", Facts: map[string]logs.Fact{"version": logs.FactVersion}}},
		},
		Log: logs.Lines{
			Fatal:    trtllmFatal(),
			Requests: logs.TorchRequests,
			Milestones: []logs.Milestone{
				logs.NewMilestone(`TensorRT-LLM version: (\S+)`, logs.FactVersion),
				logs.NewMilestone(`Model init total -- ([\d.]+)s`, logs.PhaseWeights),
				logs.NewMilestone(`for max tokens in paged KV cache \((\d+)\)`, logs.FactKVTokens),
			},
		},
		Sim: Sim{
			Args: map[string]string{
				"tp-size": "tensor-parallel-size", "pp-size": "pipeline-parallel-size", "max-seq-len": "max-model-len",
				"max-batch-size": "max-num-seqs", "max-num-tokens": "max-num-batched-tokens",
				"kv-cache-free-gpu-memory-fraction": "gpu-memory-utilization",
			},
		},
	}.started()
}

// trtllmCommand builds `trtllm-serve MODEL ...`. Binary stands for the program
// with its subcommand, if any. Options keep the underscores that the program
// wants; its switches have no form for false, which leaves them out. A key is
// sent with requests and not checked by the server.
func trtllmCommand(s recipe.Spec) (recipe.Command, error) {
	spelling := trtllmSpelling()
	options, err := spelling.Render(s.Args)
	if err != nil {
		return recipe.Command{}, err
	}

	host, port := address(s)
	argv := append(s.Binary, s.Model, "--host", host, "--port", port)
	if s.ServedName != "" {
		argv = append(argv, spelling.Pair("--served_model_name", s.ServedName)...)
	}

	return recipe.Assemble(s, append(argv, options...), nil, append(torchUnset(), "TRTLLM_*", "TLLM_*")...)
}

// trtllmWorldSize is the number of its ranks. Experts are spread within the
// tensor parallel ranks.
func trtllmWorldSize(args []recipe.Arg) int {
	return sizes(trtllmSpelling(), args, "tp-size", "pp-size", "cp-size")
}

// trtllmServedName: a model in a folder is served under the folder's name.
func trtllmServedName(s recipe.Spec) string {
	name := s.Model
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
		name = path.Base(name)
	}
	return cmp.Or(s.ServedName, name)
}

func trtllmSpelling() recipe.Spelling {
	return recipe.Spelling{
		Engine: "trtllm-serve",
		Rename: func(arg recipe.Arg) recipe.Arg {
			arg.Name = strings.ReplaceAll(arg.Name, "-", "_")
			return arg
		},
		Underscores: true,
		JoinDash:    true,
		List:        func(string) recipe.ListForm { return recipe.Repeated },
		Owned: map[string]string{
			"host": "host", "port": "port", "model": "model", "served-model-name": "served-name",
		},
	}
}

func trtllmFatal() []logs.FatalLine {
	return slices.Concat(
		[]logs.FatalLine{
			logs.Fatal(results.FailKVCache, "raise kv_cache_free_gpu_memory_fraction, or lower max_seq_len or "+
				"max_batch_size",
				`No available memory for KV cache`, `max_seq_len.*exceeds.*KV cache`),
			logs.Fatal(results.FailBadFlag, logs.HintVersion, `^Error: No such option`, `^Error: Invalid value for`),
		},
		logs.Torch(),
		[]logs.FatalLine{
			logs.Fatal(results.FailEngineDied, logs.HintTrace,
				`Executor worker (died|returned error)`, `Failed to initialize executor`, `MPI_ABORT was invoked`),
		})
}

// trtllmTemplate is the starter scenario.
var trtllmTemplate = starterHead("TensorRT-LLM", "trtllm") +
	`server:                            # shared by all variants
  launcher: trtllm
  model: meta-llama/Llama-3.1-8B-Instruct
  args:                            # flags of trtllm-serve without the dashes
    max_seq_len: 8192
    kv_cache_free_gpu_memory_fraction: 0.9
` + starterToken + `  ready: {timeout: 30m, stall: 5m}

variants:
  - name: tp1
    args: {tp_size: 1}
  - name: tp2
    args: {tp_size: 2}
` + starterLoad + starterEnd
