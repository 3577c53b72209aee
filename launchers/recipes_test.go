package launchers

type recipe struct {
	name string
	spec Spec
}

const llama70b = "meta-llama/Llama-3.1-70B-Instruct"

func recipesOf(kind string) []recipe {
	return map[string][]recipe{
		"vllm":      vllmRecipes(),
		"llamacpp":  llamaRecipes(),
		"sglang":    sglangRecipes(),
		"tgi":       tgiRecipes(),
		"ollama":    ollamaRecipes(),
		"command":   commandRecipes(),
		"external":  {{"running", Spec{BaseURL: "http://gpu-box:8000", Model: "m"}}, {"GPUs to watch", Spec{BaseURL: "http://gpu-box:8000"}}},
		"simulator": simulatorRecipes(),
	}[kind]
}

func vllmRecipes() []recipe {
	rocm := map[string]string{"VLLM_USE_TRITON_FLASH_ATTN": "0"}
	shared := func(args ...Arg) []Arg {
		return append(args, Arg{"gpu_memory_utilization", number("0.96")}, Arg{"max-num-seqs", number("2048")})
	}
	return []recipe{
		{"plain", Spec{Model: "org/m"}},
		{"tp8 on MI300X", Spec{
			Model: llama70b, Port: 8000, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(Arg{"tp", number("8")}, Arg{"num-scheduler-steps", number("12")}),
		}},
		{"tp2 and pp4 on MI300X", Spec{
			Model: llama70b, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(Arg{"-tp", number("2")}, Arg{"-pp", number("4")}, Arg{"num-scheduler-steps", number("12")}),
		}},
		{"third of four tp2 replicas", Spec{
			Model: llama70b, Port: 8002, Env: rocm, Vendor: "amd", GPUs: []int{4, 5}, Replica: 2, Replicas: 4,
			Args: shared(Arg{"tensor-parallel-size", number("2")}),
		}},
		{"speculative decoding, old flags", Spec{
			Model: llama70b, Env: rocm, Vendor: "amd", GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Args: shared(Arg{"tp", number("8")}, Arg{"speculative_model", "meta-llama/Llama-3.2-1B-Instruct"}, Arg{"num_speculative_tokens", number("5")}),
		}},
		{"speculative decoding, new flag", Spec{Model: llama70b, Args: []Arg{
			{"speculative-config", map[string]any{"num_speculative_tokens": number("5"), "model": "org/<draft>&co", "method": "draft_model"}},
			{"limit-mm-per-prompt", map[string]any{"image": number("4")}},
			{"speculative-config.draft_tensor_parallel_size", number("1")},
		}}},
		{"module of the time before vllm serve", Spec{
			Binary: []string{"python", "-m", "vllm.entrypoints.openai.api_server"},
			Model:  "/models/Meta-Llama-3-8B-Instruct",
			Args: []Arg{
				{"block-size", number("128")},
				{"max-model-len", number("2048")},
				{"enable-prefix-caching", true},
				{"enforce-eager", true},
			},
		}},
		{"strix halo", Spec{Model: "meta-llama/Llama-2-7b-chat-hf", Args: []Arg{{"gpu-memory-utilization", number("0.75")}}}},
		{"every kind of value", Spec{
			Model: "org/m", ServedName: "-odd-", Host: "0.0.0.0", Port: 9000, APIKey: "sk-1", Vendor: "nvidia", GPUs: []int{3, 1},
			Binary: []string{"numactl", "--cpunodebind=0", "/venv/bin/vllm"},
			Args: []Arg{
				{"enable_prefix_caching", false},
				{"disable-log-requests", false},
				{"enforce_eager", nil},
				{"trust-remote-code", true},
				{"cudagraph-capture-sizes", []any{number("1"), number("2"), number("4")}},
				{"lora-modules", []any{"a=b", map[string]any{"name": "c"}}},
				{"middleware", []any{}},
				{"chat-template", ""},
				{"seed", number("-1")},
				{"ep", false},
				{"O", number("3")},
				{"max-model-len", "8k"},
			},
		}},
		{"variables of the recipe win", Spec{
			Model: "org/m", Unset: []string{"NO_COLOR", "HF_HUB_OFFLINE"},
			Env: map[string]string{"MASTER_PORT": "29600", "VLLM_PORT": "25000", "PYTHONUNBUFFERED": "0"},
		}},
		{"no GPU at all", Spec{Model: "org/m", GPUs: []int{}, Vendor: "nvidia"}},
	}
}

func llamaRecipes() []recipe {
	return []recipe{
		{"plain file", Spec{Model: "/models/tiny.gguf"}},
		{"repository", Spec{Model: "ggml-org/gemma-3-1b-it-GGUF:Q8_0", APIKey: "sk-1"}},
		{"address", Spec{Model: "https://example.org/m.gguf?x=1"}},
		{"repository in the arguments", Spec{Args: []Arg{{"hf-repo", "org/m-GGUF"}, {"hff", "m.gguf"}}}},
		{"strix halo", Spec{
			Binary: []string{"build/bin/llama-server"}, Port: 8000, Model: "/models/gguf/Llama-2-7b-chat-hf.f16.gguf",
			Env: map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"},
			Args: []Arg{
				{"fa", true},
				{"ngl", number("99")},
				{"np", number("16")},
				{"cb", true},
				{"kv-unified", true},
				{"cache-reuse", number("256")},
			},
		}},
		{"draft model with former names", Spec{
			Model: "/models/target.gguf", ServedName: "target",
			Args: []Arg{{"draft-model", "/models/draft.gguf"}, {"draft-max", number("8")}, {"draft_min", number("1")}},
		}},
		{"draft model as it stands", Spec{
			Model: "/models/target.gguf",
			Args:  []Arg{{"--model-draft", "/models/draft.gguf"}, {"--draft-max", number("8")}, {"spec-type", nil}},
		}},
		{"every kind of value", Spec{
			Model: "/models/tiny.gguf", GPUs: []int{0}, Vendor: "nvidia",
			Args: []Arg{
				{"flash_attn", false},
				{"metrics", false},
				{"slots", false},
				{"kvu", false},
				{"cpu-moe", false},
				{"cpu-strict", true},
				{"tensor-split", []any{number("3"), number("1")}},
				{"lora", []any{"a.gguf", "b.gguf"}},
				{"n-predict", number("-1")},
				{"control-vector-layer-range", []any{number("1"), number("8")}},
				{"chat-template-kwargs", map[string]any{"enable_thinking": false}},
				{"mmap", false},
				{"ui", false},
				{"t", number("2")},
				{"fit", "off"},
				{"ctx-size", number("8192")},
			},
		}},
	}
}

func sglangRecipes() []recipe {
	return []recipe{
		{"plain", Spec{Model: "org/m"}},
		{"newer program", Spec{
			Binary: []string{"sglang", "serve"}, Model: "org/m", ServedName: "m", APIKey: "sk-1", Vendor: "amd", GPUs: []int{0, 1},
			Args: []Arg{
				{"tp", number("2")},
				{"mem_fraction_static", number("0.85")},
				{"disable-radix-cache", true},
				{"enable-metrics", true},
				{"trust-remote-code", false},
				{"cuda-graph-bs", []any{number("1"), number("8")}},
				{"json-model-override-args", map[string]any{"a": number("1")}},
			},
		}},
		{"no metrics", Spec{Model: "org/m", Args: []Arg{{"enable-metrics", false}}}},
	}
}

func tgiRecipes() []recipe {
	return []recipe{
		{"plain", Spec{Model: "org/m"}},
		{"second replica", Spec{
			Model: "org/m", Replica: 1, Port: 3001, Vendor: "amd", GPUs: []int{4, 5, 6, 7}, APIKey: "sk-1",
			Args: []Arg{
				{"num-shard", number("4")},
				{"sharded", true},
				{"max_concurrent_requests", number("512")},
				{"cuda-graphs", []any{number("0")}},
				{"cors-allow-origin", []any{"a", "b"}},
				{"trust-remote-code", false},
				{"revision", "-x"},
			},
		}},
	}
}

func ollamaRecipes() []recipe {
	return []recipe{
		{"plain", Spec{Model: "tiny"}},
		{"settings", Spec{
			Model: "llama3.1:70b", Host: "::1", Port: 11500, Vendor: "nvidia", GPUs: []int{0},
			Args: []Arg{
				{"num-parallel", number("8")},
				{"flash_attention", true},
				{"OLLAMA_SCHED_SPREAD", false},
				{"keep-alive", "30m"},
				{"context-length", nil},
				{"origins", []any{"a", "b"}},
			},
			Env: map[string]string{"OLLAMA_MODELS": "/models/ollama"},
		}},
	}
}

func commandRecipes() []recipe {
	return []recipe{
		{"placeholders", Spec{
			Command: []string{"trtllm-serve", "${model}", "--host", "${host}", "--port=${port}", "--devices", "[${gpus}]", "$HOME"},
			Model:   "org/m", Port: 8100, GPUs: []int{2, 3}, Vendor: "nvidia",
			Args: []Arg{{"tp_size", number("2")}, {"verbose", true}, {"quiet", false}, {"x", []any{"1", "2"}}, {"offset", number("-1")}},
		}},
		{"as it is", Spec{Command: []string{"./serve.sh", ""}, API: "llamacpp", Env: map[string]string{"HIP_VISIBLE_DEVICES": "0"}}},
	}
}

func simulatorRecipes() []recipe {
	bin := []string{"/opt/bench"}
	return []recipe{
		{"plain", Spec{Binary: bin, Model: "sim/llama-8b"}},
		{"no model", Spec{Binary: bin, APIKey: "sk-1"}},
		{"options", Spec{
			Binary: bin, Model: "sim/llama-70b", ServedName: "m", Port: 8010,
			Args: []Arg{
				{"tp", number("8")},
				{"max_num_seqs", number("256")},
				{"enable-prefix-caching", false},
				{"seed", number("-1")},
				{"crash-at", []any{number("1"), number("2")}},
				{"enforce-eager", true},
			},
		}},
	}
}
