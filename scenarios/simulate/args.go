package simulate

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/benchrig/bench/scenarios"
)

// simName is what an engine's argument is called in the simulator; "" keeps
// the name.
type simName map[string]string

// simNames are the arguments that the simulator acts on, by launcher.
func simNames(launcher string) simName {
	switch launcher {
	case "llamacpp":
		return llamaSimNames()
	case "sglang":
		return simName{
			"tp": "tensor-parallel-size", "tp-size": "tensor-parallel-size", "tensor-parallel-size": "",
			"pp": "pipeline-parallel-size", "pp-size": "pipeline-parallel-size", "pipeline-parallel-size": "",
			"context-length": "max-model-len", "max-running-requests": "max-num-seqs", "mem-fraction-static": "gpu-memory-utilization",
			"quantization": "", "kv-cache-dtype": "", "chunked-prefill-size": "max-num-batched-tokens", "disable-radix-cache": "no-enable-prefix-caching",
			"speculative-draft-model-path": "speculative-model", "speculative-num-draft-tokens": "num-speculative-tokens",
		}
	case "tgi":
		return simName{
			"num-shard": "tensor-parallel-size", "quantize": "quantization", "max-total-tokens": "max-model-len",
			"max-batch-prefill-tokens": "max-num-batched-tokens", "max-batch-size": "max-num-seqs",
		}
	case "vllm":
		return vllmSimNames()
	}
	return nil
}

func vllmSimNames() simName {
	names := simName{"tp": "tensor-parallel-size", "pp": "pipeline-parallel-size", "q": "quantization", "sc": "speculative-config"}
	for _, name := range []string{
		"tensor-parallel-size", "pipeline-parallel-size", "max-model-len", "max-num-seqs", "max-num-batched-tokens", "block-size",
		"gpu-memory-utilization", "quantization", "kv-cache-dtype", "num-scheduler-steps", "enforce-eager", "seed",
		"enable-prefix-caching", "no-enable-prefix-caching", "enable-chunked-prefill", "no-enable-chunked-prefill",
		"speculative-config", "speculative-model", "num-speculative-tokens", "speculative-draft-tensor-parallel-size",
		"disable-log-stats", "served-model-name", "shutdown-timeout",
	} {
		names[name] = ""
	}
	return names
}

func llamaSimNames() simName {
	return simName{
		"ctx-size": "", "c": "ctx-size", "parallel": "", "np": "parallel", "kv-unified": "", "kvu": "kv-unified",
		"model-draft": "speculative-model", "md": "speculative-model", "spec-draft-model": "speculative-model",
		"draft-max": "num-speculative-tokens", "draft": "num-speculative-tokens", "draft-n": "num-speculative-tokens",
		"spec-draft-n-max": "num-speculative-tokens", "seed": "", "s": "seed", "alias": "served-model-name", "a": "served-model-name",
	}
}

// simArgs are a server's arguments as the simulator takes them, and the names
// of those that it has no use for.
func simArgs(sv scenarios.Server) (kept []scenarios.Arg, dropped []string) {
	names := simNames(sv.Launcher)
	for _, a := range sv.Args {
		name := scenarios.ArgName(a.Name)
		to, known := names[name]
		switch {
		case !known:
			dropped = append(dropped, name)
			continue
		case to == "":
			to = name
		}
		kept = append(kept, scenarios.Arg{Name: to, Value: a.Value, Pos: a.Pos})
	}
	if sv.Container.Image != "" {
		dropped = append(dropped, "container")
	}
	slices.Sort(dropped)
	return kept, slices.Compact(dropped)
}

// envEffects are the switches of the environment whose effect on an engine's
// speed is known, as arguments of the simulator.
func envEffects(env map[string]scenarios.EnvValue) []scenarios.Arg {
	var out []scenarios.Arg
	for _, e := range []struct {
		name, value, arg string
		factor           float64
	}{
		{"VLLM_SWIZZLE_TENSOR", "1", "sim-decode", 1.02}, // measured: 0.9 to 2.5 % less time a token
		{"ROCBLAS_USE_HIPBLASLT", "1", "sim-prefill", 1.10},
	} {
		if v, ok := env[e.name]; ok && v.Value == e.value {
			out = append(out, scenarios.Arg{Name: e.arg, Value: asNumber(e.factor)})
		}
	}
	return out
}

func asNumber(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', -1, 64)) }
