package serverlog

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// TestFailuresOfVllm: what vLLM, torch and the hub's client say when a start
// fails, in the order in which they say it, as class and reason. Each line is
// written as the API server, the engine and a worker log it.
func TestFailuresOfVllm(t *testing.T) {
	t.Parallel()
	const trace = "Traceback (most recent call last):\n  File \"/x.py\", line 1, in f\n    raise ValueError(\n"
	const coreGone = "\nRuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
	for name, c := range map[string]struct {
		log   string
		class results.FailureClass
		says  string
	}{
		"memory of the GPU": {
			trace +
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total " +
				"capacity of " +
				"79.11 GiB" + coreGone, results.FailOutOfMemory, "Tried to allocate 224.00 MiB",
		},
		"memory at the sampler's warm-up": {
			trace + "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests." +
				coreGone,
			results.FailOutOfMemory, "warming up sampler",
		},
		"memory of others": {
			trace +
				"ValueError: Free memory on device cuda:0 (3.25/23.43 GiB) on startup is less than desired GPU memory " +
				"utilization (0.96, 22.49 GiB)." + coreGone, results.FailStillHeld, "3.25/23.43 GiB",
		},
		"memory of the host": {
			trace +
				"RuntimeError: [enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory: you " +
				"tried to " +
				"allocate 9 bytes." + coreGone, results.FailOutOfMemory, "can't allocate memory",
		},
		"port of ZMQ": {
			trace + "zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:5570')" + coreGone,
			results.FailPortInUse, "tcp://127.0.0.1:5570",
		},
		"chat template": {
			trace + "ValueError: The supplied chat template string (x.jinja) appears path-like, but doesn't exist!",
			results.FailBadRecipe, "correct chat-template",
		},
		"gated model": {
			trace +
				"huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1)\n\n" +
				"Cannot access gated repo " +
				"for url https://huggingface.co/m.\nOSError: You are trying to access a gated repo.",
			results.FailGated, "set HF_TOKEN",
		},
		"terms not accepted": {
			trace + "OSError: You are trying to access a gated repo.\nMake sure to have access to it.",
			results.FailGated, "HF_TOKEN",
		},
		"no such model": {
			trace + "huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1)\n" +
				"Repository Not Found for url: https://huggingface.co/api/models/nope.", results.FailModel,
			"check the name",
		},
		"no network": {
			trace + "httpx.ConnectError: [Errno -2] Name or service not known", results.FailDownload,
			"Name or service not known",
		},
		"the hub's error": {
			trace + "huggingface_hub.errors.HfHubHTTPError: 504 Server Error: Gateway Time-out",
			results.FailDownload, "504",
		},
		"no tokenizer": {
			trace +
				"OSError: Can't load tokenizer for '/models/m'. If you were trying to load it from the hub, make sure",
			results.FailModel, "Can't load tokenizer for '/models/m'",
		},
		"no weights": {
			trace + "RuntimeError: Cannot find any model weights with `/models/m`" + coreGone,
			results.FailModel, "/models/m",
		},
		"broken weights": {
			trace + "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge" + coreGone,
			results.FailModel, "HeaderTooLarge",
		},
		"weights of another model": {
			trace + "ValueError: There is no module or parameter named 'model.q' in LlamaForCausalLM" + coreGone,
			results.FailModel, "'model.q'",
		},
		"no kind of model": {
			trace +
				"pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n" +
				"  Value error, Unrecognized " +
				"model in /m. Should have a `model_type` key [type=value_error, input_value=ArgsKwargs(()), " +
				"input_type=ArgsKwargs]",
			results.FailModel, "Unrecognized model in /m",
		},
		"architecture": {
			trace +
				"pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n" +
				"  Value error, Model " +
				"architectures ['FooForCausalLM'] are not supported for now. Supported architectures: dict_keys(['A'])",
			results.FailModel, "['FooForCausalLM']",
		},
		"code of the model": {
			trace +
				"ValueError: The repository /m contains custom code which must be executed to correctly load the " +
				"model.\n" +
				"Please pass the argument `trust_remote_code=True` to allow custom code to be run.",
			results.FailBadRecipe, "set trust-remote-code: true",
		},
		"quantization": {
			trace +
				"pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n" +
				"  Value error, Quantization " +
				"method specified in the model config (fp8) does not match the quantization method specified in the " +
				"`quantization` argument (awq). [type=value_error, input_value=1, input_type=int]",
			results.FailBadRecipe, "leave quantization out",
		},
		"quantization of an old GPU": {
			trace +
				"ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. " +
				"Current capability: 80." + coreGone, results.FailBadRecipe, "Minimum capability: 89",
		},
		"number out of range": {
			trace +
				"pydantic_core._pydantic_core.ValidationError: 1 validation error for CacheConfig\n" +
				"gpu_memory_utilization\n" +
				"  Input should be less than or equal to 1 [type=less_than_equal, input_value=1.5, input_type=float]\n" +
				"    For further information visit https://errors.pydantic.dev/2.12/v/less_than_equal",
			results.FailBadRecipe, "gpu_memory_utilization: Input should be less than or equal to 1",
		},
		"rank of LoRA": {
			trace + "ValueError: LoRA rank 64 is greater than max_lora_rank 16." + coreGone, results.FailBadRecipe,
			"raise max-lora-rank",
		},
		"no such LoRA": {
			trace +
				"vllm.exceptions.LoRAAdapterNotFoundError: Loading lora ad failed: No adapter found for /models/none",
			results.FailModel, "/models/none",
		},
		"too few GPUs": {
			trace + "ValueError: World size (8) is larger than the number of available GPUs (1) in this node.",
			results.FailNoGPU,
			"World size (8)",
		},
		"too few GPUs, seen by a worker": {
			trace + "torch.AcceleratorError: CUDA error: invalid device ordinal" + coreGone, results.FailNoGPU,
			"invalid device ordinal",
		},
		"NCCL": {
			trace + "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:77, unhandled system error" +
				coreGone,
			results.FailGPU, "NCCL error",
		},
		"no memory in NCCL": {
			trace + "h100:7:7 [0] init.cc:1 NCCL WARN Cuda failure 2 'out of memory'" + coreGone,
			results.FailOutOfMemory, "Cuda failure",
		},
		"shared memory": {
			trace + "h100:7:7 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a (size 9637888)" +
				coreGone,
			results.FailSharedMemory, "/dev/shm/nccl-a",
		},
		"a worker is killed": {
			"ERROR 11-28 15:13:46 [multiproc_executor.py:200] Worker proc VllmWorker-1 died unexpectedly, shutting " +
				"down executor.",
			results.FailEngineDied, "Worker proc VllmWorker-1 died unexpectedly",
		},
		"compiler": {
			trace +
				"torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC " +
				"environment " +
				"variable or set triton.knobs.build.impl." + coreGone, results.FailCompile, "enforce-eager",
		},
		"shared memory of a kernel": {
			trace + "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072" + coreGone,
			results.FailCompile, "Required: 131072",
		},
		"a module": {
			trace + "ModuleNotFoundError: No module named 'flash_attn'" + coreGone, results.FailFatalLine,
			"No module named 'flash_attn'",
		},
		"a library": {
			trace + "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
			results.FailFatalLine, "libcudart.so.12",
		},
		"attention backend": {
			trace +
				"ValueError: Selected backend AttentionBackendEnum.FLASHMLA is not valid for this configuration. " +
				"Reason: " +
				"['head_size not supported']" + coreGone, results.FailBadRecipe, "FLASHMLA",
		},
		"value of the environment": {
			trace + "ValueError: Invalid value 'x' for VLLM_WORKER_MULTIPROC_METHOD. Valid options: ['spawn', 'fork'].",
			results.FailBadRecipe, "VLLM_WORKER_MULTIPROC_METHOD",
		},
		"old driver": {
			trace + "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
			results.FailGPU, "too old",
		},
		"open files": {trace + "OSError: [Errno 24] Too many open files", results.FailOpenFiles, "ulimit -n"},
		"full disk":  {trace + "OSError: [Errno 28] No space left on device", results.FailFatalLine, "a disk is full"},
		"tokenizer file": {
			trace + "Exception: data did not match any variant of untagged enum ModelWrapper at line 1 column 3",
			results.FailModel, "untagged enum ModelWrapper",
		},
		"missing shard": {
			trace + "FileNotFoundError: No such file or directory: \"/m/model-00002-of-00002.safetensors\"" + coreGone,
			results.FailModel, "model-00002-of-00002",
		},
		"weights of another shape": {
			trace + "RuntimeError: The size of tensor a (64) must match the size of tensor b (32) at non-singleton " +
				"dimension 0" + coreGone, results.FailModel, "size of tensor",
		},
		"weights that the model lacks": {
			trace + "KeyError: 'layers.0.self_attn.qkv_proj.bias'" + coreGone, results.FailModel, "qkv_proj.bias",
		},
		"name of a model": {
			trace + "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or " +
				"'namespace/repo_name': '/models/none'.", results.FailModel, "/models/none",
		},
		"memory to map": {
			trace +
				"RuntimeError: unable to mmap 1024 bytes from file </m/a.safetensors>: Cannot allocate memory (12)" +
				coreGone, results.FailOutOfMemory, "unable to mmap",
		},
		"no driver": {
			trace + "RuntimeError: Found no NVIDIA driver on your system." + coreGone, results.FailNoGPU,
			"no NVIDIA driver",
		},
		"tool parser": {
			trace + "KeyError: 'invalid tool call parser: foo (chose from { hermes })'", results.FailBadRecipe,
			"invalid tool call parser: foo",
		},
		"reasoning parser": {
			trace + "KeyError: \"Reasoning parser 'foo' not found. Available parsers: deepseek_r1\"",
			results.FailBadRecipe, "Reasoning parser 'foo'",
		},
		"template": {
			trace + "jinja2.exceptions.TemplateSyntaxError: unexpected '}'", results.FailBadRecipe,
			"correct chat-template",
		},
		"address": {
			trace + "OSError: [Errno 99] Cannot assign requested address", results.FailBadRecipe, "correct host",
		},
		"rights": {
			trace + "PermissionError: [Errno 13] Permission denied", results.FailFatalLine, "port below 1024",
		},
		"missing file": {
			trace + "FileNotFoundError: [Errno 2] No such file or directory: '/x/cert.pem'", results.FailFatalLine,
			"/x/cert.pem",
		},
		"threads": {trace + "RuntimeError: can't start new thread", results.FailFatalLine, "ulimit -u"},
		"a killed core": {
			trace + strings.Replace(strings.TrimPrefix(coreGone, "\n"), "{}", "{'EngineCore': -9}", 1),
			results.FailEngineDied, "lack of memory",
		},
		"a bus error": {
			trace + strings.Replace(strings.TrimPrefix(coreGone, "\n"), "{}", "{'EngineCore_DP0': -7}", 1),
			results.FailEngineDied, "/dev/shm",
		},
		"a crashed core": {
			trace + strings.Replace(strings.TrimPrefix(coreGone, "\n"), "{}", "{'EngineCore': -11}", 1),
			results.FailEngineDied, "crashed",
		},
		"a survived lack of rights before the real end": {
			trace + "PermissionError: [Errno 13] Permission denied: '/root/.config/vllm'\n" + trace + "AssertionError" +
				coreGone, results.FailEngineDied, "Engine core initialization failed",
		},
		"a survived error before the real one": {
			trace + "ValueError: no such plugin\n" + trace + "torch.OutOfMemoryError: CUDA out of memory." + coreGone,
			results.FailOutOfMemory, "CUDA out of memory",
		},
	} {
		for _, prefix := range []string{
			"", "(APIServer pid=12) ", "(EngineCore pid=77) ERROR 11-28 14:36:59 [core.py:1186] ",
			"(Worker_TP1 pid=9) ERROR 11-28 15:13:46 [multiproc_executor.py:966] ",
			"ERROR 02-17 15:33:29 engine.py:366] ",
		} {
			l := &Log{known: vllmKind(t).Log}
			for line := range strings.SplitSeq(c.log, "\n") {
				if strings.HasPrefix(line, "ERROR ") {
					l.feed([]byte(line + "\n"))
					continue
				}
				l.feed([]byte(prefix + line + "\n"))
			}

			match := l.FatalLine()
			if match == nil {
				t.Errorf("%s, prefix %q: no fatal line, want class %s", name, prefix, c.class)
				continue
			}
			failure := match.Failure(l.Cause())
			if failure.Class != c.class || !strings.Contains(failure.Message, c.says) {
				t.Errorf("%s, prefix %q: %s: %s\nwant %s with %q", name, prefix, failure.Class, failure.Message,
					c.class, c.says)
			}
		}
	}
}

// TestRequestErrorsEndNothing: words of a start are no reason for an end while
// the server serves.
func TestRequestErrorsEndNothing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`(APIServer pid=1) ValueError: Model "tiny" does not support matryoshka representation`,
		"(Worker pid=1) ERROR 11-28 15:09:38 [multiproc_executor.py:966] ValueError: LoRA rank 64 is greater than " +
			"max_lora_rank 16.",
		"(APIServer pid=1) vllm.exceptions.LoRAAdapterNotFoundError: Loading lora ad3 failed: No adapter found for " +
			"/models/none",
		"  Value error, Either prompt or prompt_embeds must be provided [type=value_error, input_value=1, " +
			"input_type=int]",
	} {
		l := &Log{known: vllmKind(t).Log, serving: true}
		l.feed([]byte(line + "\n"))
		if match := l.FatalLine(); match != nil {
			t.Errorf("%q is taken for fatal while the server serves", line)
		}
	}

	starting := &Log{known: vllmKind(t).Log}
	starting.feed([]byte("(EngineCore pid=1) INFO [core.py:112] Initializing a V1 LLM engine (v0.22.1) with config: " +
		"model='m', " +
		"trust_remote_code=True, quantization=None\n"))
	if match := starting.FatalLine(); match != nil {
		t.Errorf("the line of arguments is taken for fatal: %q", match.line)
	}
}

// TestPassingLines: an engine may continue after them, so they give no start up; they
// name the failure of one that has ended.
func TestPassingLines(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"PermissionError: [Errno 13] Permission denied: '/root/.config/vllm/usage_stats.json'",
		"FileNotFoundError: [Errno 2] No such file or directory: 'numactl'",
		"RuntimeError: can't start new thread",
	} {
		l := &Log{known: vllmKind(t).Log}
		l.feed([]byte("(APIServer pid=1) " + line + "\n"))
		match := l.FatalLine()
		if match == nil || match.Ends() {
			t.Errorf("%q: %+v, want a match that gives no start up", line, match)
		}
		l.feed([]byte("(EngineCore pid=2) RuntimeError: Engine core initialization failed. See root cause above.\n"))
		if !l.FatalLine().Ends() {
			t.Errorf("%q hides that the engine is gone", line)
		}
	}
	if new(Log).FatalLine().Ends() {
		t.Error("an empty log gives a start up")
	}
}
