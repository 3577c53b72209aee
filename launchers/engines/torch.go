package engines

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// torchUnset are further variables of a distributed launcher around us, and
// one that would add the counters of an earlier server to those of the next.
func torchUnset() []string {
	return []string{"LOCAL_RANK", "LOCAL_WORLD_SIZE", "PROMETHEUS_MULTIPROC_DIR"}
}

// fatal makes one FatalLine of regular expressions that mean the same.
func fatal(class results.FailureClass, hint string, patterns ...string) FatalLine {
	return FatalLine{
		Pattern: regexp.MustCompile(strings.Join(patterns, "|")),
		Class:   class,
		Hint:    hint,
	}
}

// starting makes a FatalLine that counts until the server serves: afterwards
// the same words are about a request.
func starting(class results.FailureClass, hint string, patterns ...string) FatalLine {
	line := fatal(class, hint, patterns...)
	line.Starting = true
	return line
}

// guess makes a FatalLine of a start for which a later, more precise one
// stands in.
func guess(class results.FailureClass, hint string, patterns ...string) FatalLine {
	line := starting(class, hint, patterns...)
	line.Guess = true
	return line
}

// passing makes a FatalLine that engines may survive.
func passing(hint string, patterns ...string) FatalLine {
	line := starting(results.FailFatalLine, hint, patterns...)
	line.Passing = true
	return line
}

// torchRequests are the lines in which Python engines log requests and answers.
var torchRequests = regexp.MustCompile(`Received request |Generated (streaming )?response |\bprompt: |(Receive|Finish): obj=`)

const (
	// HintVersion is the hint for flags that an engine rejects.
	HintVersion = "the recipe may be written for another version of the engine"
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
				`torch\.(cuda\.)?OutOfMemoryError`, `(CUDA|HIP) out of memory`, `(CUDA|HIP) error: out of memory`,
				`Cuda failure .*out of memory`, `CUBLAS_STATUS_ALLOC_FAILED`,
				`DefaultCPUAllocator: can't allocate memory`,
				`^MemoryError\b`, `unable to mmap .*Cannot allocate memory`, `^OSError: \[Errno 12\]`),
			fatal(results.FailBadFlag, HintVersion,
				`error: unrecognized arguments`, `error: argument -`, `error: ambiguous option`,
				`error: the following arguments are required`),
		},
		hubFatal(),
		[]FatalLine{
			fatal(results.FailPortInUse, "the port may be one that the engine chose for itself: start again, or give "+
				"other ports",
				`(?i)\[Errno 98\].*address already in use`, `EADDRINUSE`, `ZMQError: Address already in use`,
				`The server socket has failed to listen on any local network address`),
			fatal(results.FailNoGPU, "the server saw no GPU: check the driver, the container's devices and gpus:",
				`No (CUDA|HIP) GPUs are available`, `Failed to infer device type`, `no CUDA-capable device is detected`,
				`Found no NVIDIA driver`,
				`(CUDA|HIP) error: invalid device ordinal`),
			fatal(results.FailSharedMemory, hintShm,
				`(?i)No space left on device.*(/dev/shm|psm_|nccl-)`,
				`(?i)(/dev/shm|psm_|nccl-).*No space left on device`,
				`(?i)error while creating shared memory segment`, `(?i)unable to allocate shared memory`),
			fatal(results.FailCompileCache, "remove the engine's compile cache, or give each replica its own "+
				"(VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR)",
				`(Error|Errno).*(torch_compile_cache|torchinductor_|/\.triton/cache)`,
				`(torch_compile_cache|torchinductor_).*(EOFError|UnpicklingError|No such file)`,
				`_pickle\.UnpicklingError`),
			fatal(results.FailGPU, "check the driver, dmesg and the GPU's health before the next run",
				`RuntimeError: (CUDA|HIP) error: `, `torch\.AcceleratorError`, `DistBackendError: NCCL error`,
				`RuntimeError: NCCL error`,
				`Memory access fault by GPU node`, `HSA_STATUS_ERROR_`, `CUDA driver version is insufficient`,
				`The NVIDIA driver on your system is too old`, `uncorrectable ECC error`),
		}, installationFatal())
}

// installationFatal are the lines of an engine or a machine that lacks
// something.
func installationFatal() []FatalLine {
	return []FatalLine{
		starting(results.FailCompile, "check that the machine has a C compiler and the CUDA or ROCm toolkit; "+
			"enforce-eager does without compiled graphs",
			`torch\._inductor\.exc\.`, `torch\._dynamo\.exc\.`, `BackendCompilerFailed`, `Failed to find C compiler`,
			`triton\.(compiler|runtime)\.errors\.`, `Could not find nvcc`,
			`Ninja is required to load C\+\+ extensions`),
		starting(results.FailFatalLine, "the engine's installation lacks it: install it, or leave out what needs it",
			`^ModuleNotFoundError: `, `^ImportError: `),
		starting(results.FailOpenFiles, "raise the limit of open files: ulimit -n", `^OSError: \[Errno 24\]`),
		starting(results.FailFatalLine, "a disk is full: make room where the engine keeps models and caches",
			`^OSError: \[Errno 28\]`),
		passing("raise the limit of processes and threads: ulimit -u, a container's pids-limit",
			`can't start new thread`, `^BlockingIOError: \[Errno 11\]`, `libgomp: Thread creation failed`,
			`pthread_create failed`),
		passing("the user who runs bench may not read or write it, or not listen on a port "+
			"below 1024", `^PermissionError: `),
		passing("something that the recipe names is not there: see the lines above",
			`^FileNotFoundError: `),
		starting(results.FailBadRecipe, "correct host: no interface of this machine has that address",
			`^OSError: \[Errno 99\]`),
		starting(results.FailBadRecipe, "correct chat-template", `^jinja2\.exceptions\.`),
		starting(results.FailBadRecipe, "the engine has no parser of that name",
			`(?i)^KeyError: .*(tool (call )?|reasoning )parser`),
	}
}

// hubFatal are the lines of models that cannot be had.
func hubFatal() []FatalLine {
	return []FatalLine{
		fatal(results.FailModel, "the hub has no such model, or it is private: check the name, and HF_TOKEN",
			`RepositoryNotFoundError:`, `Repository Not Found for url`, `RevisionNotFoundError:`),
		fatal(results.FailGated, "accept the model's terms on its page and set HF_TOKEN",
			`GatedRepoError:`, `Cannot access gated repo`, `You are trying to access a gated repo`,
			`(401|403) Client Error`),
		fatal(results.FailDownload, "check the network, or fetch the model before the run",
			`LocalEntryNotFoundError:`, `We couldn't connect to 'https://huggingface\.co'`,
			`Consistency check failed: file should be of size`,
			`(MaxRetryError|ReadTimeout(Error)?|ConnectionError).*huggingface\.co`, `HfHubHTTPError: `,
			`^(httpx|httpcore)\.(Connect|Read)\w+: `),
		starting(results.FailBadRecipe, "set trust-remote-code: true if you trust the model's code",
			`(Please pass the argument|consider setting) .trust_remote_code=True`),
		fatal(results.FailModel, "",
			`does not appear to have (a file|files) named`, `is not a local folder and is not a valid model identifier`,
			`are not supported for now`, `SafetensorError:`, `Invalid repository ID or local directory specified`),
		starting(results.FailModel, "",
			`Can't load (the )?(tokenizer|configuration|model|feature extractor|image processor)`,
			`Couldn't instantiate the backend tokenizer`, `Tokenizer class \S+ does not exist`,
			`Cannot find any model weights`, `Unrecognized model in `, `does not recognize this architecture`,
			`is not a valid JSON file`, `failed to be inspected`, `has no vLLM implementation`,
			`There is no module or parameter named`, `weights were not initialized from checkpoint`,
			`Attempted to load weight .* into parameter`, `HFValidationError: `,
			`^FileNotFoundError: .*\.(safetensors|bin|pt|gguf|model)\b`,
			`^Exception: (data did not match any variant|expected |EOF while parsing|missing field|invalid type)`,
			`^KeyError: '\S*(layers|embed|lm_head|weight|bias)\S*'$`,
			`^RuntimeError: The size of tensor a \(\d+\) must match the size of tensor b`),
	}
}
