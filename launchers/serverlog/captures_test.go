package serverlog

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// taken is what following a captured log gives.
func taken(t *testing.T, kind engines.Kind, path string) *Log {
	t.Helper()
	l := &Log{known: kind.Log, startup: Facts{slotsArg: kind.Args.Slots}}
	l.feed([]byte(readCapture(t, path) + "\n"))
	return l
}

// Starts of vLLM 0.22 that failed, each with its class and its reason.
func TestCapturedFailures(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		class results.FailureClass
		says  string
	}{
		"fail-bad-choice": {results.FailBadFlag, "argument --dtype: invalid choice: 'float33'"},
		"fail-bad-json": {
			results.FailBadFlag,
			"argument --speculative-config/-sc: Value {model: x cannot be converted",
		},
		"fail-empty-folder": {
			results.FailModel,
			"Invalid repository ID or local directory specified: '/models/empty'",
		},
		"fail-kv-small": {
			results.FailKVCache,
			"To serve at least one request with the model's max seq len (1024)",
		},
		"fail-kv-then-sigterm": {
			results.FailKVCache,
			"To serve at least one request with the model's max seq len (1024)",
		},
		"fail-no-memory": {
			results.FailOutOfMemory,
			"is less than desired CPU memory utilization (0.99, 19.52 GiB)",
		},
		"fail-no-model": {
			results.FailDownload,
			"LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder",
		},
		"fail-port": {results.FailPortInUse, "[Errno 98] Address already in use"},
		"fail-too-long": {
			results.FailBadRecipe,
			"User-specified max_model_len (100000) is greater than the derived max_model_len",
		},
		"fail-tp-too-many-heads": {
			results.FailBadRecipe,
			"Total number of attention heads (2) must be divisible by tensor parallel size (3)",
		},
		"fail-unknown-flag": {results.FailBadFlag, "unrecognized arguments: --foo-bar 1"},
		"fail-worker":       {results.FailEngineDied, "has no attribute 'expand_kernel_impl'"},
	} {
		kind := vllmKind(t)
		match := taken(t, kind, "vllm-0.22-cpu/"+name+".log")
		line := match.FatalLine()
		if line == nil {
			t.Errorf("%s: no fatal line, want class %s", name, want.class)
			continue
		}
		failure := line.Failure(match.Cause())
		if failure.Class != want.class || !strings.Contains(failure.Message, want.says) {
			t.Errorf("%s: %s: %s\nwant %s with %q", name, failure.Class, failure.Message, want.class, want.says)
		}
	}
}

// Starts of vLLM 0.22 that worked, with what their logs tell.
func TestCapturedStarts(t *testing.T) {
	t.Parallel()
	const version = "0.22.1.dev0+g4ff865c38.cpu"
	for name, want := range map[string]*results.Startup{
		"start.log": {
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 0.02}, {Name: "init", Seconds: 1.24}},
			KVTokens: new(int64(2097152)), MaxConcurrency: new(2048.), ContextLen: new(int64(1024)),
			Slots: new(int64(64)),
		},
		"start-asc2.log": {
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 0.01}, {Name: "init", Seconds: 1.44}},
			KVTokens: new(int64(2097152)), MaxConcurrency: new(2048.), ContextLen: new(int64(1024)),
			Slots: new(int64(64)),
		},
		"start-dp2.log": { // two engines: the sums
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 0.01}, {Name: "init", Seconds: 1.81}},
			KVTokens: new(int64(4194304)), MaxConcurrency: new(4096.), ContextLen: new(int64(1024)),
			Slots: new(int64(64)),
		},
		"term-lost.log": {
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 0.01}, {Name: "init", Seconds: 1.56}},
			KVTokens: new(int64(2097152)), MaxConcurrency: new(2048.), ContextLen: new(int64(1024)),
			Slots: new(int64(64)),
		},
		"fail-other-name.log": {
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 0.09}, {Name: "init", Seconds: 3.18}},
			KVTokens: new(int64(2097152)), MaxConcurrency: new(2048.), ContextLen: new(int64(1024)),
			Slots: new(int64(4)),
		},
	} {
		l := taken(t, vllmKind(t), "vllm-0.22-cpu/"+name)
		if match := l.FatalLine(); match != nil {
			t.Errorf("%s: fatal line %q, want none", name, match.line)
		}
		got := l.startup.Startup()
		if got == nil {
			t.Errorf("%s: nothing told", name)
			continue
		}
		if got.Arguments["model"] == "" {
			t.Errorf("%s: arguments = %v, want the model among them", name, got.Arguments)
		}
		got.Arguments = nil
		if diff := cmp.Diff(want, got, approx); diff != "" || l.startup.Version != version {
			t.Errorf("%s: version %q, want %q; startup (-want +got):\n%s", name, l.startup.Version, version, diff)
		}
	}
}

// Lines that healthy servers log.
func TestHarmlessLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, line string }{
		{
			"vllm",
			`ERROR 02-17 15:33:29 config.py:102] Error retrieving file list: (MaxRetryError("HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded"), '(Request ID: 1)'), retrying 1 of 2`,
		},
		{
			"vllm",
			`(APIServer pid=1) INFO 02-13 11:33:35 [logger.py:81] Generated response chatcmpl-a26: output: 'The message RuntimeError: CUDA out of memory means', finish_reason: stop`,
		},
		{
			"vllm",
			`INFO 02-13 11:33:35 [logger.py:39] Received request cmpl-1: prompt: 'torch.OutOfMemoryError', params: SamplingParams(n=1)`,
		},
		{"vllm", `(APIServer pid=29707)     raise LocalEntryNotFoundError(`},
		{
			"vllm",
			`(EngineCore pid=8821) ERROR 11-28 14:36:59 [core.py:1186]     raise torch.OutOfMemoryError("CUDA out of memory")`,
		},
		{
			"sglang",
			`[2025-05-01 10:00:00] Receive: obj=GenerateReqInput(text='torch.OutOfMemoryError: CUDA out of memory')`,
		},
		{
			"sglang",
			`[2025-05-01 10:00:00] Finish: obj=GenerateReqInput(text='x'), out={'text': 'Scheduler hit an exception'}`,
		},
		{"sglang", `Error while downloading: ConnectionError(huggingface.co), retrying in 1 s`},
		{"ollama", `time=2025 level=DEBUG msg="completion request" prompt="llama runner process has terminated"`},
		{"llamacpp", `srv  log_server_r: request:  {"prompt":"CUDA error: out of memory"}`},
	} {
		kind, _ := engines.Lookup(c.kind)
		l := &Log{known: kind.Log}
		l.feed([]byte(c.line + "\n"))
		if match := l.FatalLine(); match != nil {
			t.Errorf("%s: %q is taken for fatal", c.kind, c.line)
		}
	}
}

// The captures are complete: a new one gets its line above.
func TestCapturesAreAllKnown(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../engines/testdata/vllm-0.22-cpu/fail-*.log")
	const failures, starts = 12, 1
	if err != nil || len(files) != failures+starts {
		t.Errorf("%d captures of failed starts, %v, want %d", len(files), err, failures+starts)
	}
}
