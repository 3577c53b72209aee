// Package logs holds what the lines of a server's log mean: FatalLine, after
// which a server cannot continue, and Milestone, which states a fact of its start.
// Torch are those that Python engines share.
//
// What goes in: patterns. What comes out: values, for the kinds of servers that
// have them. The package reads no log.
package logs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// Lines are those lines of a server's log that mean something.
type Lines struct {
	Fatal      []FatalLine
	Milestones []Milestone    // of the start
	Requests   *regexp.Regexp // quote requests and answers, and so may quote anything; nil: there are none
	Waiting    *regexp.Regexp // of a start: show waiting, not progress; nil: none are known
	// ReadyForTerm: a SIGTERM before this line of a start may be lost, and is sent
	// again at it; nil: none is lost.
	ReadyForTerm *regexp.Regexp
}

// FatalLine is a log line that says why a server cannot continue. It is evidence,
// not proof: engines also log errors that they survive.
type FatalLine struct {
	Pattern *regexp.Regexp
	Class   results.FailureClass
	Hint    string // what usually helps, for the end of the failure's message; "": nothing to add

	Starting bool // it counts only until the server serves: later, the same words are about a request
	Guess    bool // another line with a class of its own takes its place
	// Passing: engines may continue after it, so that it names the failure of one that
	// has ended, and gives no start up.
	Passing bool
}

// Fatal makes one FatalLine of regular expressions that mean the same.
func Fatal(class results.FailureClass, hint string, patterns ...string) FatalLine {
	return FatalLine{
		Pattern: regexp.MustCompile(strings.Join(patterns, "|")),
		Class:   class,
		Hint:    hint,
	}
}

// Starting makes a FatalLine that counts until the server serves: afterwards
// the same words are about a request.
func Starting(class results.FailureClass, hint string, patterns ...string) FatalLine {
	line := Fatal(class, hint, patterns...)
	line.Starting = true
	return line
}

// Guess makes a FatalLine of a start that a later, more precise one replaces.
func Guess(class results.FailureClass, hint string, patterns ...string) FatalLine {
	line := Starting(class, hint, patterns...)
	line.Guess = true
	return line
}

// Passing makes a FatalLine that engines may survive.
func Passing(hint string, patterns ...string) FatalLine {
	line := Starting(results.FailFatalLine, hint, patterns...)
	line.Passing = true
	return line
}

// TorchRequests are the lines in which Python engines log requests and answers.
var TorchRequests = regexp.MustCompile(`Received request |Generated (streaming )?response |\bprompt: |(Receive|Finish): obj=`)

// Hints that kinds share. HintVersion is for flags that an engine rejects.
const (
	HintVersion = "the recipe may be written for another version of the engine"
	HintTrace   = "the cause is usually the first traceback of the log"
	HintHeld    = "another process, perhaps a server before this one, still holds memory of the GPU"
	HintContext = "lower max-model-len, or raise gpu-memory-utilization or the number of GPUs"
	hintShm     = "make room in /dev/shm; a container needs ipc: host or a larger shm-size:"
)

// Torch are the lines that Python engines on torch and Hugging Face
// share. The order is that of the classes' precision: the first that matches
// names the failure.
func Torch() []FatalLine {
	return slices.Concat(
		[]FatalLine{
			Fatal(results.FailOutOfMemory, "",
				`torch\.(cuda\.)?OutOfMemoryError`, `(CUDA|HIP) out of memory`, `(CUDA|HIP) error: out of memory`,
				`Cuda failure .*out of memory`, `CUBLAS_STATUS_ALLOC_FAILED`,
				`DefaultCPUAllocator: can't allocate memory`,
				`^MemoryError\b`, `unable to mmap .*Cannot allocate memory`, `^OSError: \[Errno 12\]`),
			Fatal(results.FailBadFlag, HintVersion,
				`error: unrecognized arguments`, `error: argument -`, `error: ambiguous option`,
				`error: the following arguments are required`),
		},
		hub(),
		[]FatalLine{
			Fatal(results.FailPortInUse, "the port may be one that the engine chose for itself: start again, or give "+
				"other ports",
				`(?i)\[Errno 98\].*address already in use`, `EADDRINUSE`, `ZMQError: Address already in use`,
				`The server socket has failed to listen on any local network address`),
			Fatal(results.FailNoGPU, "the server saw no GPU: check the driver, the container's devices and gpus:",
				`No (CUDA|HIP) GPUs are available`, `Failed to infer device type`, `no CUDA-capable device is detected`,
				`Found no NVIDIA driver`,
				`(CUDA|HIP) error: invalid device ordinal`),
			Fatal(results.FailSharedMemory, hintShm,
				`(?i)No space left on device.*(/dev/shm|psm_|nccl-)`,
				`(?i)(/dev/shm|psm_|nccl-).*No space left on device`,
				`(?i)error while creating shared memory segment`, `(?i)unable to allocate shared memory`),
			Fatal(results.FailCompileCache, "remove the engine's compile cache, or give each replica its own "+
				"(VLLM_CACHE_ROOT, TORCHINDUCTOR_CACHE_DIR, TRITON_CACHE_DIR)",
				`(Error|Errno).*(torch_compile_cache|torchinductor_|/\.triton/cache)`,
				`(torch_compile_cache|torchinductor_).*(EOFError|UnpicklingError|No such file)`,
				`_pickle\.UnpicklingError`),
			Fatal(results.FailGPU, "check the driver, dmesg and the GPU's health before the next run",
				`RuntimeError: (CUDA|HIP) error: `, `torch\.AcceleratorError`, `DistBackendError: NCCL error`,
				`RuntimeError: NCCL error`,
				`Memory access fault by GPU node`, `HSA_STATUS_ERROR_`, `CUDA driver version is insufficient`,
				`The NVIDIA driver on your system is too old`, `uncorrectable ECC error`),
		}, installation())
}

// installation are the lines of an engine or a machine that lacks
// something.
func installation() []FatalLine {
	return []FatalLine{
		Starting(results.FailCompile, "check that the machine has a C compiler and the CUDA or ROCm toolkit; "+
			"enforce-eager does without compiled graphs",
			`torch\._inductor\.exc\.`, `torch\._dynamo\.exc\.`, `BackendCompilerFailed`, `Failed to find C compiler`,
			`triton\.(compiler|runtime)\.errors\.`, `Could not find nvcc`,
			`Ninja is required to load C\+\+ extensions`),
		Starting(results.FailFatalLine, "the engine's installation lacks it: install it, or leave out what needs it",
			`^ModuleNotFoundError: `, `^ImportError: `),
		Starting(results.FailOpenFiles, "raise the limit of open files: ulimit -n", `^OSError: \[Errno 24\]`),
		Starting(results.FailFatalLine, "a disk is full: make room where the engine keeps models and caches",
			`^OSError: \[Errno 28\]`),
		Passing("raise the limit of processes and threads: ulimit -u, a container's pids-limit",
			`can't start new thread`, `^BlockingIOError: \[Errno 11\]`, `libgomp: Thread creation failed`,
			`pthread_create failed`),
		Passing("the user who runs bench may not read or write it, or not listen on a port "+
			"below 1024", `^PermissionError: `),
		Passing("something that the recipe names is not there: see the lines above",
			`^FileNotFoundError: `),
		Starting(results.FailBadRecipe, "correct host: no interface of this machine has that address",
			`^OSError: \[Errno 99\]`),
		Starting(results.FailBadRecipe, "correct chat-template", `^jinja2\.exceptions\.`),
		Starting(results.FailBadRecipe, "the engine has no parser of that name",
			`(?i)^KeyError: .*(tool (call )?|reasoning )parser`),
	}
}

// hub are the lines of models that are not available.
func hub() []FatalLine {
	return []FatalLine{
		Fatal(results.FailModel, "the hub has no such model, or it is private: check the name, and HF_TOKEN",
			`RepositoryNotFoundError:`, `Repository Not Found for url`, `RevisionNotFoundError:`),
		Fatal(results.FailGated, "accept the model's terms on its page and set HF_TOKEN",
			`GatedRepoError:`, `Cannot access gated repo`, `You are trying to access a gated repo`,
			`(401|403) Client Error`),
		Fatal(results.FailDownload, "check the network, or fetch the model before the run",
			`LocalEntryNotFoundError:`, `We couldn't connect to 'https://huggingface\.co'`,
			`Consistency check failed: file should be of size`,
			`(MaxRetryError|ReadTimeout(Error)?|ConnectionError).*huggingface\.co`, `HfHubHTTPError: `,
			`^(httpx|httpcore)\.(Connect|Read)(Error|Timeout): `),
		Starting(results.FailBadRecipe, "set trust-remote-code: true if you trust the model's code",
			`(Please pass the argument|consider setting) .trust_remote_code=True`),
		Fatal(results.FailModel, "",
			`does not appear to have (a file|files) named`, `is not a local folder and is not a valid model identifier`,
			`are not supported for now`, `SafetensorError:`, `Invalid repository ID or local directory specified`),
		Starting(results.FailModel, "",
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
