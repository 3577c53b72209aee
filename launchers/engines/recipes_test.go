package engines

import "github.com/benchrig/bench/launchers/recipe"

type example struct {
	name string
	spec recipe.Spec
}

const llama70b = "meta-llama/Llama-3.1-70B-Instruct"

func recipesOf(kind string) []example {
	return map[string][]example{
		"vllm":     vllmRecipes(),
		"llamacpp": llamaRecipes(),
		"sglang":   sglangRecipes(),
		"tgi":      tgiRecipes(),
		"trtllm":   trtllmRecipes(),
		"ollama":   ollamaRecipes(),
		"command":  commandRecipes(),
		"external": {
			{"running", recipe.Spec{BaseURL: "http://gpu-box:8000", Model: "m"}},
			{"GPUs to watch", recipe.Spec{BaseURL: "http://gpu-box:8000"}},
		},
		"simulator": simulatorRecipes(),
	}[kind]
}

func vllmRecipes() []example {
	rocm := map[string]string{"VLLM_USE_TRITON_FLASH_ATTN": "0"}
	shared := func(args ...recipe.Arg) []recipe.Arg {
		return append(args, recipe.Arg{Name: "gpu_memory_utilization", Value: number("0.96")},
			recipe.Arg{Name: "max-num-seqs", Value: number("2048")})
	}
	return []example{
		{"plain", recipe.Spec{Model: "org/m"}},
		{"tp8 on MI300X", recipe.Spec{
			Model: llama70b, Port: 8000, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(recipe.Arg{Name: "tp", Value: number("8")}, recipe.Arg{
				Name:  "num-scheduler-steps",
				Value: number("12"),
			}),
		}},
		{"tp2 and pp4 on MI300X", recipe.Spec{
			Model: llama70b, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(recipe.Arg{Name: "-tp", Value: number("2")}, recipe.Arg{Name: "-pp", Value: number("4")},
				recipe.Arg{Name: "num-scheduler-steps", Value: number("12")}),
		}},
		{"third of four tp2 replicas", recipe.Spec{
			Model: llama70b, Port: 8002, Env: rocm, Vendor: "amd", GPUs: []int{4, 5}, Replica: 2, Replicas: 4,
			Args: shared(recipe.Arg{Name: "tensor-parallel-size", Value: number("2")}),
		}},
		{"speculative decoding, old flags", recipe.Spec{
			Model: llama70b, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(recipe.Arg{Name: "tp", Value: number("8")}, recipe.Arg{
				Name:  "speculative_model",
				Value: "meta-llama/Llama-3.2-1B-Instruct",
			}, recipe.Arg{
				Name:  "num_speculative_tokens",
				Value: number("5"),
			}),
		}},
		{"speculative decoding, new flag", recipe.Spec{Model: llama70b, Args: []recipe.Arg{
			{Name: "speculative-config", Value: map[string]any{
				"num_speculative_tokens": number("5"),
				"model":                  "org/<draft>&co", "method": "draft_model",
			}},
			{Name: "limit-mm-per-prompt", Value: map[string]any{"image": number("4")}},
			{Name: "speculative-config.draft_tensor_parallel_size", Value: number("1")},
		}}},
		{"module of the time before vllm serve", recipe.Spec{
			Binary: []string{"python", "-m", "vllm.entrypoints.openai.api_server"},
			Model:  "/models/Meta-Llama-3-8B-Instruct",
			Args: []recipe.Arg{
				{Name: "block-size", Value: number("128")},
				{Name: "max-model-len", Value: number("2048")},
				{Name: "enable-prefix-caching", Value: true},
				{Name: "enforce-eager", Value: true},
			},
		}},
		{"strix halo", recipe.Spec{
			Model: "meta-llama/Llama-2-7b-chat-hf",
			Args:  []recipe.Arg{{Name: "gpu-memory-utilization", Value: number("0.75")}},
		}},
		{"every kind of value", recipe.Spec{
			Model: "org/m", ServedName: "-odd-", Host: "0.0.0.0", Port: 9000, APIKey: "sk-1", Vendor: "nvidia",
			GPUs:   []int{3, 1},
			Binary: []string{"numactl", "--cpunodebind=0", "/venv/bin/vllm"},
			Args: []recipe.Arg{
				{Name: "enable_prefix_caching", Value: false},
				{Name: "disable-log-requests", Value: false},
				{Name: "enforce_eager", Value: nil},
				{Name: "trust-remote-code", Value: true},
				{Name: "cudagraph-capture-sizes", Value: []any{number("1"), number("2"), number("4")}},
				{Name: "lora-modules", Value: []any{"a=b", map[string]any{"name": "c"}}},
				{Name: "middleware", Value: []any{}},
				{Name: "chat-template", Value: ""},
				{Name: "seed", Value: number("-1")},
				{Name: "ep", Value: false},
				{Name: "O", Value: number("3")},
				{Name: "max-model-len", Value: "8k"},
			},
		}},
		{"variables of the recipe win", recipe.Spec{
			Model: "org/m", Unset: []string{"NO_COLOR", "HF_HUB_OFFLINE"},
			Env: map[string]string{"MASTER_PORT": "29600", "VLLM_PORT": "25000", "PYTHONUNBUFFERED": "0"},
		}},
		{"no GPU at all", recipe.Spec{Model: "org/m", GPUs: []int{}, Vendor: "nvidia"}},
	}
}

func llamaRecipes() []example {
	return []example{
		{"plain file", recipe.Spec{Model: "/models/tiny.gguf"}},
		{"repository", recipe.Spec{Model: "ggml-org/gemma-3-1b-it-GGUF:Q8_0", APIKey: "sk-1"}},
		{"address", recipe.Spec{Model: "https://example.org/m.gguf?x=1"}},
		{"repository in the arguments", recipe.Spec{Args: []recipe.Arg{
			{Name: "hf-repo", Value: "org/m-GGUF"},
			{Name: "hff", Value: "m.gguf"},
		}}},
		{"strix halo", recipe.Spec{
			Binary: []string{"build/bin/llama-server"}, Port: 8000, Model: "/models/gguf/Llama-2-7b-chat-hf.f16.gguf",
			Env: map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"},
			Args: []recipe.Arg{
				{Name: "fa", Value: true},
				{Name: "ngl", Value: number("99")},
				{Name: "np", Value: number("16")},
				{Name: "cb", Value: true},
				{Name: "kv-unified", Value: true},
				{Name: "cache-reuse", Value: number("256")},
			},
		}},
		{"draft model with former names", recipe.Spec{
			Model: "/models/target.gguf", ServedName: "target",
			Args: []recipe.Arg{
				{Name: "draft-model", Value: "/models/draft.gguf"},
				{Name: "draft-max", Value: number("8")},
				{Name: "draft_min", Value: number("1")},
			},
		}},
		{"draft model as it stands", recipe.Spec{
			Model: "/models/target.gguf",
			Args: []recipe.Arg{
				{Name: "--model-draft", Value: "/models/draft.gguf"},
				{Name: "--draft-max", Value: number("8")},
				{Name: "spec-type", Value: nil},
			},
		}},
		{"every kind of value", recipe.Spec{
			Model: "/models/tiny.gguf", GPUs: []int{0}, Vendor: "nvidia",
			Args: []recipe.Arg{
				{Name: "flash_attn", Value: false},
				{Name: "metrics", Value: false},
				{Name: "slots", Value: false},
				{Name: "kvu", Value: false},
				{Name: "cpu-moe", Value: false},
				{Name: "cpu-strict", Value: true},
				{Name: "tensor-split", Value: []any{number("3"), number("1")}},
				{Name: "lora", Value: []any{"a.gguf", "b.gguf"}},
				{Name: "n-predict", Value: number("-1")},
				{Name: "control-vector-layer-range", Value: []any{number("1"), number("8")}},
				{Name: "chat-template-kwargs", Value: map[string]any{"enable_thinking": false}},
				{Name: "mmap", Value: false},
				{Name: "ui", Value: false},
				{Name: "t", Value: number("2")},
				{Name: "fit", Value: "off"},
				{Name: "ctx-size", Value: number("8192")},
			},
		}},
	}
}

func sglangRecipes() []example {
	return []example{
		{"plain", recipe.Spec{Model: "org/m"}},
		{"newer program", recipe.Spec{
			Binary: []string{"sglang", "serve"}, Model: "org/m", ServedName: "m", APIKey: "sk-1", Vendor: "amd",
			GPUs: []int{0, 1},
			Args: []recipe.Arg{
				{Name: "tp", Value: number("2")},
				{Name: "mem_fraction_static", Value: number("0.85")},
				{Name: "disable-radix-cache", Value: true},
				{Name: "enable-metrics", Value: true},
				{Name: "trust-remote-code", Value: false},
				{Name: "cuda-graph-bs", Value: []any{number("1"), number("8")}},
				{Name: "json-model-override-args", Value: map[string]any{"a": number("1")}},
			},
		}},
		{"no metrics", recipe.Spec{Model: "org/m", Args: []recipe.Arg{{Name: "enable-metrics", Value: false}}}},
	}
}

func tgiRecipes() []example {
	return []example{
		{"plain", recipe.Spec{Model: "org/m"}},
		{"second replica", recipe.Spec{
			Model: "org/m", Replica: 1, Port: 3001, Vendor: "amd", GPUs: []int{4, 5, 6, 7}, APIKey: "sk-1",
			Args: []recipe.Arg{
				{Name: "num-shard", Value: number("4")},
				{Name: "sharded", Value: true},
				{Name: "max_concurrent_requests", Value: number("512")},
				{Name: "cuda-graphs", Value: []any{number("0")}},
				{Name: "cors-allow-origin", Value: []any{"a", "b"}},
				{Name: "trust-remote-code", Value: false},
				{Name: "revision", Value: "-x"},
			},
		}},
	}
}

func ollamaRecipes() []example {
	return []example{
		{"plain", recipe.Spec{Model: "tiny"}},
		{"settings", recipe.Spec{
			Model: "llama3.1:70b", Host: "::1", Port: 11500, Vendor: "nvidia", GPUs: []int{0},
			Args: []recipe.Arg{
				{Name: "num-parallel", Value: number("8")},
				{Name: "flash_attention", Value: true},
				{Name: "OLLAMA_SCHED_SPREAD", Value: false},
				{Name: "keep-alive", Value: "30m"},
				{Name: "context-length", Value: nil},
				{Name: "origins", Value: []any{"a", "b"}},
			},
			Env: map[string]string{"OLLAMA_MODELS": "/models/ollama"},
		}},
	}
}

func commandRecipes() []example {
	return []example{
		{"placeholders", recipe.Spec{
			Command: []string{
				"trtllm-serve", "${model}", "--host", "${host}", "--port=${port}", "--devices",
				"[${gpus}]", "$HOME",
			},
			Model: "org/m", Port: 8100, GPUs: []int{2, 3}, Vendor: "nvidia",
			Args: []recipe.Arg{
				{Name: "tp_size", Value: number("2")},
				{Name: "verbose", Value: true},
				{Name: "quiet", Value: false},
				{Name: "x", Value: []any{"1", "2"}},
				{Name: "offset", Value: number("-1")},
			},
		}},
		{"as it is", recipe.Spec{
			Command: []string{"./serve.sh", ""}, API: "llamacpp",
			Env: map[string]string{"HIP_VISIBLE_DEVICES": "0"},
		}},
	}
}

func simulatorRecipes() []example {
	bin := []string{"/opt/bench"}
	return []example{
		{"plain", recipe.Spec{Binary: bin, Model: "sim/llama-8b"}},
		{"no model", recipe.Spec{Binary: bin, APIKey: "sk-1"}},
		{"options", recipe.Spec{
			Binary: bin, Model: "sim/llama-70b", ServedName: "m", Port: 8010,
			Args: []recipe.Arg{
				{Name: "tp", Value: number("8")},
				{Name: "max_num_seqs", Value: number("256")},
				{Name: "enable-prefix-caching", Value: false},
				{Name: "seed", Value: number("-1")},
				{Name: "sim-fault", Value: []any{"crash@1", "error@2"}},
				{Name: "enforce-eager", Value: true},
			},
		}},
	}
}

func trtllmRecipes() []example {
	return []example{
		{"on two GPUs", recipe.Spec{
			Model: llama70b, ServedName: "big", GPUs: []int{0, 1}, Vendor: "nvidia",
			Args: []recipe.Arg{
				{Name: "tp-size", Value: number("2")},
				{Name: "max_seq_len", Value: number("8192")},
				{Name: "trust_remote_code", Value: true},
				{Name: "enable-chunked-prefill", Value: false},
			},
		}},
		{"a folder", recipe.Spec{Model: "/models/llama-8b", Binary: []string{"/opt/trt/bin/trtllm-serve", "serve"}}},
	}
}
