package launchers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// fatal makes one FatalLine of regular expressions that mean the same.
func fatal(class results.FailureClass, hint string, patterns ...string) FatalLine {
	return FatalLine{
		Pattern: regexp.MustCompile(strings.Join(patterns, "|")),
		Class:   class,
		Hint:    hint,
	}
}

// vague reports whether a class only says that the engine is gone, so that a
// later line may say why.
func vague(class results.FailureClass) bool {
	return class == results.FailFatalLine || class == results.FailEngineDied
}

const (
	hintVersion = "the recipe may be written for another version of the engine"
	hintTrace   = "the cause is usually the first traceback of the log"
	hintHeld    = "another process, perhaps a server before this one, still holds memory of the GPU"
	hintContext = "lower max-model-len, or raise gpu-memory-utilization or the number of GPUs"
	hintShm     = "make room in /dev/shm; a container needs ipc: host or a larger shm-size:"
)

// torchFatal are the lines that Python engines on torch and Hugging Face
// share. The order is that of the classes' precision: the first that matches
// names the failure.
func torchFatal() []FatalLine {
	return slices.Concat(
		[]FatalLine{
			fatal(results.FailOutOfMemory, "",
				`torch\.(cuda\.)?OutOfMemoryError`, `(CUDA|HIP) out of memory`, `(CUDA|HIP) error: out of memory`),
			fatal(results.FailBadFlag, hintVersion,
				`error: unrecognized arguments`, `error: argument -`, `error: ambiguous option`, `error: the following arguments are required`),
		},
		hubFatal(),
		[]FatalLine{
			fatal(results.FailPortInUse, "the port may be one that the engine chose for itself: start again, or give other ports",
				`(?i)\[Errno 98\].*address already in use`, `EADDRINUSE`, `The server socket has failed to listen on any local network address`),
			fatal(results.FailNoGPU, "the server saw no GPU: check the driver, the container's devices and gpus:",
				`No (CUDA|HIP) GPUs are available`, `Failed to infer device type`),
			fatal(results.FailSharedMemory, hintShm,
				`(?i)No space left on device.*(/dev/shm|psm_|nccl-)`, `(?i)(/dev/shm|psm_|nccl-).*No space left on device`,
				`(?i)error while creating shared memory segment`, `(?i)unable to allocate shared memory`),
			fatal(results.FailCompileCache, "remove the engine's compile cache, or give each replica its own (VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR)",
				`(Error|Errno).*(torch_compile_cache|torchinductor_|/\.triton/cache)`, `(torch_compile_cache|torchinductor_).*(EOFError|UnpicklingError|No such file)`,
				`_pickle\.UnpicklingError`),
			fatal(results.FailGPU, "check the driver, dmesg and the GPU's health before the next run",
				`RuntimeError: (CUDA|HIP) error: `, `torch\.AcceleratorError`, `DistBackendError: NCCL error`, `RuntimeError: NCCL error`,
				`Memory access fault by GPU node`, `HSA_STATUS_ERROR_`, `CUDA driver version is insufficient`, `uncorrectable ECC error`),
		})
}

// hubFatal are the lines of models that cannot be had.
func hubFatal() []FatalLine {
	return []FatalLine{
		fatal(results.FailGated, "accept the model's terms on its page and set HF_TOKEN",
			`GatedRepoError`, `Cannot access gated repo`, `(401|403) Client Error`),
		fatal(results.FailDownload, "check the network, or fetch the model before the run",
			`LocalEntryNotFoundError`, `We couldn't connect to 'https://huggingface\.co'`, `Consistency check failed: file should be of size`,
			`(MaxRetryError|ReadTimeout(Error)?|ConnectionError).*huggingface\.co`),
		fatal(results.FailModel, "",
			`RepositoryNotFoundError`, `does not appear to have a file named config\.json`, `is not a local folder and is not a valid model identifier`,
			`are not supported for now`, `SafetensorError`),
	}
}

// vllmFatal: precise reasons first, then the lines that only say that the
// engine is gone.
func vllmFatal() []FatalLine {
	memory := []FatalLine{
		fatal(results.FailStillHeld, hintHeld,
			`Free memory on device .* on startup is less than desired GPU memory utilization`, `Error in memory profiling`),
		fatal(results.FailKVCache, hintContext,
			`No available memory for the cache blocks`,
			`To serve at least one request with the model's max seq len`,
			`is larger than the (maximum number of tokens that can be stored in KV cache|available KV cache memory)`),
	}
	engine := []FatalLine{
		fatal(results.FailBadRecipe, "set only one of HIP_, CUDA_ and ROCR_VISIBLE_DEVICES",
			`Inconsistent GPU visibility env vars`),
		fatal(results.FailEngineDied, hintTrace,
			`Engine core initialization failed`, `EngineCore failed to start`, `WorkerProc failed to start`,
			`Worker proc .* died unexpectedly`, `EngineCore encountered (a fatal error|an issue)`, `EngineDeadError`,
			`Engine process failed to start`, `MQLLMEngine is already dead`, `AsyncLLMEngine has failed`,
			`Timed out waiting for engine core processes to start`),
	}
	return slices.Concat(memory, torchFatal(), engine)
}

func sglangFatal() []FatalLine {
	return slices.Concat(
		[]FatalLine{
			fatal(results.FailStillHeld, hintHeld, `The memory capacity is unbalanced`),
			fatal(results.FailKVCache, "raise mem-fraction-static, or lower the model's size or context",
				`Not enough memory\. Please try to increase --mem-fraction-static`),
		},
		torchFatal(),
		[]FatalLine{
			fatal(results.FailEngineDied, hintTrace,
				`Scheduler hit an exception`, `Received sigquit from a child process`, `Rank \d+ scheduler is dead`),
		})
}

func tgiFatal() []FatalLine {
	return slices.Concat(
		[]FatalLine{
			fatal(results.FailKVCache, "lower max-batch-prefill-tokens or max-total-tokens", `Not enough memory to handle`),
			fatal(results.FailBadFlag, hintVersion, `error: unexpected argument`, `error: invalid value`),
		},
		torchFatal(),
		[]FatalLine{
			fatal(results.FailDownload, "check the network, or fetch the model before the run", `DownloadError`),
			fatal(results.FailEngineDied, hintTrace, `ShardCannotStart`, `Shard \d+ (failed to start|crashed)`, `Webserver Crashed`, `WebserverFailed`),
		})
}

// llamaFatal holds the last lines of a failing start, because lines before
// them may be about an attempt that is repeated with less memory.
func llamaFatal() []FatalLine {
	return []FatalLine{
		fatal(results.FailKVCache, "lower ctx-size or parallel", `failed to initialize the context: failed to allocate buffer for kv cache`),
		fatal(results.FailOutOfMemory, "lower ctx-size, parallel or n-gpu-layers",
			`error loading model: unable to allocate`,
			`failed to initialize the context: failed to allocate`,
			`(CUDA|ROCm|HIP) error: out of memory`),
		fatal(results.FailGPU, "check the driver, dmesg and the GPU's health before the next run", `(CUDA|ROCm|HIP|MUSA) error: `, `vk::DeviceLostError`),
		fatal(results.FailBadFlag, "the flag was renamed: give its new name, or install the build that the recipe was written for",
			`the argument has been removed`),
		fatal(results.FailBadFlag, "the recipe may be written for another build of llama-server",
			`^error: invalid argument`, `error while handling argument`),
		fatal(results.FailDownload, "check the network, or fetch the model before the run", `(?i)failed to download`),
		fatal(results.FailModel, "",
			`error loading model:`, `failed to open GGUF file`, `exiting due to model loading error`),
		// It would go on serving, without the speculation that was asked for.
		fatal(results.FailModel, "the draft model must have the vocabulary of the model",
			`failed to initialize speculative decoding context`),
		fatal(results.FailPortInUse, "", `couldn't bind HTTP server socket`),
		fatal(results.FailFatalLine, "", `exiting due to HTTP server error`, `GGML_ASSERT\(`),
	}
}

func ollamaFatal() []FatalLine {
	return []FatalLine{
		fatal(results.FailPortInUse, "", `listen tcp .*: bind: address already in use`),
		fatal(results.FailOutOfMemory, "", `model requires more system memory`, `cudaMalloc failed: out of memory`),
		fatal(results.FailEngineDied, "", `llama runner process has terminated`),
	}
}

// usageError is how programs name a wrong command line before they end with
// code 2, or 1 for some.
var usageError = regexp.MustCompile(`(?i)^(\S.*: )?error: |^Error: No such option|^usage: .*error: `)

// exitUsage is the code with which argparse, click and clap end on a wrong
// command line.
const exitUsage = 2
