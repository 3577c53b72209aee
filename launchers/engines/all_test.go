package engines

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

var updateGolden = flag.Bool("update", false, "write golden files anew")

func number(text string) json.Number { return json.Number(text) }

func TestAllKindsAreComplete(t *testing.T) {
	for _, kind := range All() {
		if kind.Command == nil || kind.Args.WorldSize == nil || kind.API.ServedName == nil {
			t.Errorf("kind %s lacks a function", kind.Name)
		}
		if !kind.External && (kind.StopGrace <= 0 || kind.DefaultPort <= 0) {
			t.Errorf("kind %s: StopGrace %v, DefaultPort %d, want both positive", kind.Name, kind.StopGrace,
				kind.DefaultPort)
		}
		if len(kind.Counters) > 0 && kind.MetricsPath == "" {
			t.Errorf("kind %s has counters but no metrics path", kind.Name)
		}
		if got, ok := Lookup(kind.Name); !ok || got.Name != kind.Name {
			t.Errorf("Lookup(%q) = %q, %v", kind.Name, got.Name, ok)
		}
	}
	if kind, ok := Lookup("vlm"); ok {
		t.Errorf(`Lookup("vlm") = %q, want none`, kind.Name)
	}
}

// The golden files show what each recipe becomes, as a user would type it,
// without the variables that every server gets.
func TestRecipes(t *testing.T) {
	for _, kind := range All() {
		recipes := recipesOf(kind.Name)
		if len(recipes) == 0 {
			t.Errorf("no recipes for kind %s: add some in recipes_test.go", kind.Name)
		}
		var out strings.Builder
		for _, sample := range recipes {
			spec := sample.spec
			spec.Launcher = kind.Name
			command, err := kind.Command(spec)
			if err != nil {
				t.Errorf("%s, %s: %v", kind.Name, sample.name, err)
				continue
			}
			writeCommand(&out, sample.name, kind.API.ServedName(spec), kind.Args.WorldSize(spec.Args), command)
		}
		checkGolden(t, filepath.Join("testdata", "recipes", kind.Name+".golden"), out.String())
	}
}

func writeCommand(out *strings.Builder, name, served string, size int, command recipe.Command) {
	fmt.Fprintf(out, "## %s\n", name)
	for _, word := range command.Argv {
		if word == "" || strings.ContainsAny(word, " \t\"'\\$") {
			word = strconv.Quote(word)
		}
		fmt.Fprintf(out, "%s ", word)
	}
	fmt.Fprintf(out, "\n  serves %q on %d GPUs\n", served, size)
	common := recipe.HygieneSet()
	for _, name := range slices.Sorted(maps.Keys(command.Env)) {
		if value := command.Env[name]; value != common[name] {
			fmt.Fprintf(out, "  set    %s=%s\n", name, value)
		}
	}
	unset := slices.DeleteFunc(slices.Clone(command.Unset), func(name string) bool {
		return slices.Contains(recipe.HygieneUnset(), name)
	})
	fmt.Fprintf(out, "  unset  %s\n\n", strings.Join(unset, " "))
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	goldentest.Compare(t, path, got, *updateGolden)
}

// Argv, env and args of a recipe must not change under the caller's hands.
func TestCommandsAreFresh(t *testing.T) {
	for _, kind := range All() {
		if kind.External {
			continue
		}
		spec := recipe.Spec{
			Launcher: kind.Name, Model: "org/m", Binary: append(make([]string, 0, 8), "prog"),
			Command: []string{"prog", "${port}"},
			Env:     map[string]string{"A": "1"}, Replica: 1, GPUs: []int{0}, Port: 9000, APIKey: "k",
		}
		first, err := kind.Command(spec)
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		before := slices.Clone(first.Argv)
		spec.Port = 9001
		if _, err := kind.Command(spec); err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		if diff := cmp.Diff(before, first.Argv); diff != "" {
			t.Errorf("%s: a second command changed the first one's argv:\n%s", kind.Name, diff)
		}
		first.Env["A"] = "2"
		if len(spec.Env) != 1 || spec.Env["A"] != "1" {
			t.Errorf("%s: the recipe's env became %v", kind.Name, spec.Env)
		}
	}
}

func TestBadRecipes(t *testing.T) {
	bin := []string{"/opt/bench"}
	tests := []struct {
		name, kind string
		spec       recipe.Spec
		want       string // in the error
	}{
		{"no model", "vllm", recipe.Spec{}, "model: missing"},
		{"model like an option", "vllm", recipe.Spec{Model: "-tp"}, "./-tp"},
		{
			"port in args", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "port", Value: number("1")}}},
			"use the key port:",
		},
		{
			"model in args", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "model", Value: "n"}}},
			"use the key model:",
		},
		{"served name in args", "vllm", recipe.Spec{
			Model: "m",
			Args:  []recipe.Arg{{Name: "served_model_name", Value: "n"}},
		}, "use the key served-name:"},
		{
			"host with dashes", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "--host", Value: "h"}}},
			"use the key host:",
		},
		{"two spellings", "vllm", recipe.Spec{Model: "m", Args: []recipe.Arg{
			{Name: "max_num_seqs", Value: number("1")},
			{Name: "max-num-seqs", Value: number("2")},
		}}, "max_num_seqs and max-num-seqs are one option"},
		{"short and long", "vllm", recipe.Spec{Model: "m", Args: []recipe.Arg{
			{Name: "tp", Value: number("1")},
			{Name: "tensor-parallel-size", Value: number("2")},
		}}, "tp and tensor-parallel-size are one option"},
		{
			"value in the name", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "tp=8", Value: nil}}},
			`invalid option name "tp=8"`,
		},
		{
			"empty name", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "", Value: "x"}}},
			`invalid option name ""`,
		},
		{"dash in a list", "vllm", recipe.Spec{
			Model: "m",
			Args:  []recipe.Arg{{Name: "sizes", Value: []any{"1", "-x"}}},
		}, `"-x" begins with a dash`},
		{
			"null in a list", "vllm",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "sizes", Value: []any{"1", nil}}}},
			"null is not allowed in a list",
		},
		{"odd number in a map", "vllm", recipe.Spec{
			Model: "m",
			Args:  []recipe.Arg{{Name: "x", Value: map[string]any{"a": number("0x10")}}},
		}, "spell as JSON"},
		{"NUL", "vllm", recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "x", Value: "a\x00"}}}, "NUL byte"},
		{"odd type", "vllm", recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "x", Value: 3 + 2i}}}, "complex128"},
		{
			"visibility by hand", "vllm",
			recipe.Spec{
				Model: "m", GPUs: []int{0},
				Env: map[string]string{"ROCR_VISIBLE_DEVICES": "0"},
			},
			"ROCR_VISIBLE_DEVICES is set by bench for assigned GPUs",
		},
		{"visibility unset by hand", "llamacpp", recipe.Spec{
			Model: "m", GPUs: []int{0},
			Unset: []string{"CUDA_VISIBLE_DEVICES"},
		}, "gpus:"},
		{"GPU twice", "vllm", recipe.Spec{Model: "m", GPUs: []int{1, 1}}, "[1 1]"},
		{"env name", "vllm", recipe.Spec{Model: "m", Env: map[string]string{"A=B": "1"}}, "cannot be set"},
		{
			"alias in args", "llamacpp",
			recipe.Spec{Model: "m.gguf", Args: []recipe.Arg{{Name: "a", Value: "n"}}},
			"use the key served-name:",
		},
		{
			"repo in args", "llamacpp",
			recipe.Spec{Model: "m.gguf", Args: []recipe.Arg{{Name: "hf", Value: "n"}}},
			"use the key model:",
		},
		{"comma in alias", "llamacpp", recipe.Spec{Model: "m.gguf", ServedName: "a,b"}, "comma"},
		{
			"renamed twice", "llamacpp",
			recipe.Spec{
				Model: "m.gguf",
				Args:  []recipe.Arg{{Name: "draft", Value: number("3")}, {Name: "draft-max", Value: number("4")}},
			},
			"draft and draft-max are one option",
		},
		{"two load modes", "llamacpp", recipe.Spec{Model: "m.gguf", Args: []recipe.Arg{
			{Name: "mlock", Value: true},
			{Name: "mmap", Value: false},
		}}, "mlock and mmap are one option"},
		{
			"sglang model path", "sglang",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "model_path", Value: "n"}}},
			"use the key model:",
		},
		{
			"tgi hostname", "tgi",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "hostname", Value: "n"}}},
			"use the key host:",
		},
		{
			"ollama host", "ollama",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "host", Value: "n"}}},
			"keys host: and port:",
		},
		{
			"ollama host variable", "ollama",
			recipe.Spec{Model: "m", Env: map[string]string{"OLLAMA_HOST": "n"}},
			"keys host: and port:",
		},
		{"ollama twice", "ollama", recipe.Spec{
			Model: "m",
			Args: []recipe.Arg{{Name: "num-parallel", Value: number("1")}, {
				Name:  "OLLAMA_NUM_PARALLEL",
				Value: number("1"),
			}},
		}, "one setting"},
		{"ollama args and env", "ollama", recipe.Spec{
			Model: "m",
			Args:  []recipe.Arg{{Name: "num-parallel", Value: number("1")}},
			Env:   map[string]string{"OLLAMA_NUM_PARALLEL": "2"},
		}, "env sets OLLAMA_NUM_PARALLEL too"},
		{
			"ollama map", "ollama",
			recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "x", Value: map[string]any{}}}},
			"map",
		},
		{"ollama rename", "ollama", recipe.Spec{Model: "m", ServedName: "n"}, "under its own name"},
		{"no command", "command", recipe.Spec{}, "command: missing"},
		{"unknown placeholder", "command", recipe.Spec{Command: []string{"x", "${prot}"}}, "${prot}"},
		{"no model for placeholder", "command", recipe.Spec{Command: []string{"x", "${model}"}}, "needs the key model"},
		{"no GPUs for placeholder", "command", recipe.Spec{Command: []string{"x", "${gpus}"}}, "give the key gpus"},
		{"empty program", "command", recipe.Spec{Command: []string{""}}, "program's name is empty"},
		{"dialect", "command", recipe.Spec{Command: []string{"x"}, API: "grpc"}, `"grpc" is unknown`},
		{"external without address", "external", recipe.Spec{}, "base-url: missing"},
		{"external with args", "external", recipe.Spec{
			BaseURL: "http://h",
			Args:    []recipe.Arg{{Name: "a", Value: "b"}},
		}, "args: an external server"},
		{
			"external with env", "external",
			recipe.Spec{BaseURL: "http://h", Env: map[string]string{"A": "b"}},
			"env: an external server",
		},
		{"one port for all replicas", "vllm", recipe.Spec{
			Model: "m", Replicas: 2,
			Env: map[string]string{"VLLM_PORT": "25000"},
		}, "VLLM_PORT"},
		{
			"model twice", "llamacpp",
			recipe.Spec{Model: "m.gguf", Args: []recipe.Arg{{Name: "model-url", Value: "u"}}},
			"use the key model:",
		},
		{
			"no model anywhere", "llamacpp",
			recipe.Spec{Args: []recipe.Arg{{Name: "hf-file", Value: "f"}}},
			"model: missing",
		},
		{"simulator without program", "simulator", recipe.Spec{Model: "m"}, "binary: missing"},
		{"simulator port", "simulator", recipe.Spec{
			Binary: bin, Model: "m",
			Args: []recipe.Arg{{Name: "port", Value: number("1")}},
		}, "use the key port:"},
	}
	for _, test := range tests {
		kind, ok := Lookup(test.kind)
		if !ok {
			t.Fatalf("no kind %s", test.kind)
		}
		test.spec.Launcher = test.kind
		command, err := kind.Command(test.spec)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Command = %v, %v, want an error with %q", test.name, command, err, test.want)
		}
	}
}

func TestWorldSize(t *testing.T) {
	tests := []struct {
		kind string
		args []recipe.Arg
		want int
	}{
		{"vllm", nil, 1},
		{"vllm", []recipe.Arg{{Name: "tensor-parallel-size", Value: number("8")}}, 8},
		{"vllm", []recipe.Arg{{Name: "tensor_parallel_size", Value: "8"}}, 8},
		{"vllm", []recipe.Arg{{Name: "tp", Value: number("2")}, {Name: "pp", Value: number("4")}}, 8},
		{"vllm", []recipe.Arg{{Name: "-tp", Value: number("2")}, {Name: "-pp", Value: number("4")}}, 8},
		{"vllm", []recipe.Arg{
			{Name: "--tensor-parallel-size", Value: number("2")},
			{Name: "dp", Value: number("2")},
			{Name: "pipeline_parallel_size", Value: number("2")},
		}, 8},
		{"vllm", []recipe.Arg{{Name: "tp", Value: nil}, {Name: "pp", Value: number("4")}}, 4},
		{"vllm", []recipe.Arg{
			{Name: "dp", Value: number("16")},
			{Name: "data-parallel-size-local", Value: number("2")},
			{Name: "tp", Value: number("4")},
		}, 8},
		{"vllm", []recipe.Arg{{Name: "tp", Value: number("8")}, {Name: "nnodes", Value: number("2")}}, 0},
		{"vllm", []recipe.Arg{{Name: "tp", Value: "many"}}, 0},
		{"vllm", []recipe.Arg{{Name: "tp", Value: number("0")}}, 0},
		{"vllm", []recipe.Arg{{Name: "tp", Value: number("-2")}}, 0},
		{"vllm", []recipe.Arg{{Name: "tp", Value: number("99999999999")}}, 0},
		{"vllm", []recipe.Arg{{Name: "device", Value: "cpu"}, {Name: "tp", Value: number("2")}}, 0},
		{"vllm", []recipe.Arg{{Name: "max-num-seqs", Value: number("64")}}, 1},
		{"sglang", []recipe.Arg{{Name: "tp", Value: number("4")}, {Name: "dp-size", Value: number("2")}}, 8},
		{"sglang", []recipe.Arg{
			{Name: "tp-size", Value: number("8")},
			{Name: "dp", Value: number("8")},
			{Name: "enable-dp-attention", Value: true},
		}, 8},
		{"sglang", []recipe.Arg{{Name: "pp_size", Value: number("2")}}, 2},
		{"sglang", []recipe.Arg{{Name: "tp", Value: number("8")}, {Name: "nnodes", Value: number("2")}}, 0},
		{"tgi", nil, 0},
		{"tgi", []recipe.Arg{{Name: "num-shard", Value: number("4")}}, 4},
		{"tgi", []recipe.Arg{{Name: "sharded", Value: false}}, 1},
		{"tgi", []recipe.Arg{{Name: "sharded", Value: true}}, 0},
		{"llamacpp", []recipe.Arg{{Name: "ngl", Value: number("99")}}, 0},
		{"simulator", []recipe.Arg{{Name: "tensor-parallel-size", Value: number("8")}}, 0},
		{"external", nil, 0},
	}
	for _, test := range tests {
		kind, _ := Lookup(test.kind)
		if got := kind.Args.WorldSize(test.args); got != test.want {
			t.Errorf("%s: WorldSize(%v) = %d, want %d", test.kind, test.args, got, test.want)
		}
	}
}

func TestServedName(t *testing.T) {
	tests := []struct {
		kind, model, served, want string
	}{
		{"vllm", "org/m", "", "org/m"},
		{"vllm", "org/m", "mine", "mine"},
		{"llamacpp", "/models/tiny-q8_0.gguf", "", "tiny-q8_0"},
		{"llamacpp", "/models/Big.Q4.GGUF", "", "Big.Q4"},
		{"llamacpp", "/models/a,b.gguf", "", "a-b"},
		{"llamacpp", "org/m-GGUF:Q4_K_M", "", "org/m-GGUF:Q4_K_M"},
		{"llamacpp", "https://example.org/x/m.gguf", "", "m"},
		{"llamacpp", "/m.gguf", "mine", "mine"},
		{"llamacpp", "", "", ""},
		{"ollama", "tiny", "", "tiny:latest"},
		{"ollama", "llama3.1:70b", "", "llama3.1:70b"},
		{"ollama", "hf.co/org/m", "", "hf.co/org/m:latest"},
		{"ollama", "localhost:5000/m", "", "localhost:5000/m:latest"},
		{"external", "m", "", "m"},
		{"external", "", "", ""},
	}
	for _, test := range tests {
		kind, _ := Lookup(test.kind)
		if got := kind.API.ServedName(recipe.Spec{Model: test.model, ServedName: test.served}); got != test.want {
			t.Errorf("%s: ServedName(%q, %q) = %q, want %q", test.kind, test.model, test.served, got, test.want)
		}
	}
}

// firstFatal is the class of the first line of a log that is fatal to a kind.
func firstFatal(kind Kind, log string) results.FailureClass {
	for line := range strings.Lines(log) {
		for _, fatal := range kind.Log.Fatal {
			if fatal.Pattern.MatchString(strings.TrimRight(line, "\n")) {
				return fatal.Class
			}
		}
	}
	return ""
}

func TestFatalLines(t *testing.T) {
	tests := []struct {
		kind, line string
		want       results.FailureClass
	}{
		{
			"vllm", "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
			results.FailKVCache,
		},
		{
			"vllm",
			"(EngineCore_DP0 pid=7) ValueError: Free memory on device cuda:0 (3.1/79.1 GiB) on startup is less than " +
				"desired GPU memory utilization (0.9, 71.2 GiB).", results.FailStillHeld,
		},
		{"vllm", "AssertionError: Error in memory profiling. Initial free memory 12 GiB", results.FailStillHeld},
		{
			"vllm",
			"ValueError: To serve at least one request with the model's max seq len (131072), 16.0 GiB KV cache is " +
				"needed", results.FailKVCache,
		},
		{"vllm", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB", results.FailOutOfMemory},
		{
			"vllm", "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
			results.FailEngineDied,
		},
		{"vllm", "Worker proc VllmWorker-1 died unexpectedly, shutting down executor.", results.FailEngineDied},
		{
			"vllm",
			"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) " +
				"for the root cause.", results.FailEngineDied,
		},
		{"vllm", "OSError: [Errno 98] Address already in use", results.FailPortInUse},
		{"vllm", "huggingface_hub.errors.GatedRepoError: 401 Client Error.", results.FailGated},
		{"vllm", "OSError: org/m does not appear to have a file named config.json.", results.FailModel},
		{"vllm", "api_server.py: error: unrecognized arguments: --num-scheduler-steps 8", results.FailBadFlag},
		{"vllm", "vllm serve: error: argument --dtype: invalid choice: 'x'", results.FailBadFlag},
		{"vllm", "ValueError: Inconsistent GPU visibility env vars", results.FailBadRecipe},
		{"vllm", "RuntimeError: No HIP GPUs are available", results.FailNoGPU},
		{
			"vllm", "INFO 12-16 16:46:04 metrics.py:482] Avg prompt throughput: 0.0 tokens/s, GPU KV cache usage: 0.0%",
			"",
		},
		{"vllm", "INFO:     Application startup complete.", ""},
		{"vllm", "INFO: Available KV cache memory: 12.3 GiB", ""},
		{
			"sglang", "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
			results.FailKVCache,
		},
		{"sglang", "[2025-01-01 TP0] Scheduler hit an exception: Traceback", results.FailEngineDied},
		{"sglang", "The server is fired up and ready to roll!", ""},
		{"tgi", "Error: ShardCannotStart", results.FailEngineDied},
		{"tgi", "error: unexpected argument '--num-shards' found", results.FailBadFlag},
		{"tgi", "INFO text_generation_launcher: Shard ready in 12s rank=0", ""},
		{"ollama", "Error: listen tcp 127.0.0.1:11434: bind: address already in use", results.FailPortInUse},
		{
			"llamacpp",
			`error while handling argument "--draft-max": the argument has been removed. use --spec-draft-n-max`,
			results.FailBadFlag,
		},
		{"llamacpp", "CUDA error: out of memory", results.FailOutOfMemory},
		{
			"vllm", "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3356, internal error",
			results.FailGPU,
		},
		{"vllm", "RuntimeError: CUDA error: an illegal memory access was encountered", results.FailGPU},
		{"vllm", "torch.AcceleratorError: CUDA error: out of memory", results.FailOutOfMemory},
		{
			"vllm", "Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7f. Reason: Unknown.",
			results.FailGPU,
		},
		{"vllm", "OSError: [Errno 28] No space left on device: '/psm_1a2b3c4d'", results.FailSharedMemory},
		{
			"vllm",
			"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network " +
				"address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE", results.FailPortInUse,
		},
		{
			"vllm",
			"FileNotFoundError: [Errno 2] No such file or directory: " +
				"'/root/.cache/vllm/torch_compile_cache/ab/rank_0_0/x.py'", results.FailCompileCache,
		},
		{"vllm", "OSError: We couldn't connect to 'https://huggingface.co' to load the files", results.FailDownload},
		{
			"vllm", "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://huggingface.co/x",
			results.FailGated,
		},
		{"vllm", "ValueError: Model architectures ['X'] are not supported for now. Supported: []", results.FailModel},
		{"vllm", "WARNING: NCCL WARN something harmless", ""},
		{
			"sglang", "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.",
			results.FailStillHeld,
		},
		{"tgi", "RuntimeError: Not enough memory to handle 4096 prefill tokens.", results.FailKVCache},
		{"llamacpp", "CUDA error: an illegal memory access was encountered", results.FailGPU},
		{"llamacpp", "error: failed to download model from Hugging Face", results.FailDownload},
		{"ollama", "level=INFO msg=\"llama runner process has terminated: exit status 2\"", results.FailEngineDied},
		{"simulator", "torch.OutOfMemoryError: CUDA out of memory.", results.FailOutOfMemory},
	}
	for _, test := range tests {
		kind, _ := Lookup(test.kind)
		if got := firstFatal(kind, test.line); got != test.want {
			t.Errorf("%s: first fatal class of %q = %q, want %q", test.kind, test.line, got, test.want)
		}
	}
}

// Logs of a real llama-server, failing and serving.
func TestFatalLinesInCapturedLogs(t *testing.T) {
	tests := map[string]results.FailureClass{
		"bad-flag.stderr":             results.FailBadFlag,
		"garbage-model.stderr":        results.FailModel,
		"truncated-model.stderr":      results.FailModel,
		"no-model-file.stderr":        results.FailModel,
		"draft-vocab-mismatch.stderr": results.FailModel,
		"huge-ctx.stderr":             results.FailKVCache,
		"port-in-use.stderr":          results.FailPortInUse,
		"port0.stderr":                "",
		"serving-b10587.stderr":       "",
	}
	kind, _ := Lookup("llamacpp")
	for name, want := range tests {
		log, err := os.ReadFile(filepath.Join("testdata", "llama-server", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := firstFatal(kind, string(log)); got != want {
			t.Errorf("%s: class = %q, want %q", name, got, want)
		}
	}
}

// No kind makes an empty argv element unless the recipe asks for one.
func FuzzCommands(f *testing.F) {
	f.Add("org/m", "tp", uint8(0), "8", "")
	f.Add("/models/m.gguf", "lora", uint8(1), "a", "b")
	f.Add("hf.co/x/y:z", "num-parallel", uint8(2), "", "")
	f.Add("?", "hf", uint8(0), "", "")
	kinds := All()
	f.Fuzz(func(t *testing.T, model, name string, kind uint8, a, b string) {
		value, _ := fuzzValue(kind, a, b)
		for _, k := range kinds {
			spec := recipe.Spec{
				Launcher: k.Name, Model: model, Command: []string{"serve", "x${port}"}, BaseURL: "http://h",
				Replica: 1, Replicas: 2,
				Args: []recipe.Arg{{Name: name, Value: value}},
			}
			if k.Simulated {
				spec.Binary = []string{"bench"}
			}
			k.Args.WorldSize(spec.Args)
			k.API.ServedName(spec)
			command, err := k.Command(spec)
			if err != nil {
				continue
			}
			if a != "" && b != "" && slices.Contains(command.Argv, "") {
				t.Errorf("%s: Command(%q, %q: %q) = %q has an empty element", k.Name, model, name, value, command.Argv)
			}
			if !k.External && len(command.Argv) == 0 {
				t.Errorf("%s: Command(%q, %q: %q) has no argv", k.Name, model, name, value)
			}
		}
	})
}

// Every kind that starts a server gives it the common variables and its GPUs,
// and leaves to the recipe what the recipe decides.
func TestCommonEnvironment(t *testing.T) {
	for _, kind := range All() {
		if kind.External {
			continue
		}
		spec := recipe.Spec{
			Launcher: kind.Name, Model: "org/m", Binary: []string{"prog"}, Command: []string{"prog"}, GPUs: []int{1},
			Vendor: "amd",
			Env:    map[string]string{"NO_COLOR": "0", "WORLD_SIZE": "1"}, Unset: []string{
				"SPT_NOENV",
				"HF_HUB_OFFLINE",
			},
		}
		command, err := kind.Command(spec)
		if err != nil {
			t.Errorf("%s: %v", kind.Name, err)
			continue
		}
		want := map[string]string{
			"PYTHONUNBUFFERED": "1", "NO_COLOR": "0", "WORLD_SIZE": "1",
			"HIP_VISIBLE_DEVICES": "1",
		}
		for name, value := range want {
			if command.Env[name] != value {
				t.Errorf("%s: env %s = %q, want %q", kind.Name, name, command.Env[name], value)
			}
		}
		if _, ok := command.Env["SPT_NOENV"]; ok {
			t.Errorf("%s: SPT_NOENV is set although the recipe removes it", kind.Name)
		}
		for _, name := range []string{
			"SPT_NOENV", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES",
			"ROCR_VISIBLE_DEVICES", "VLLM_*",
		} {
			if !recipe.MatchesAny(name, command.Unset) {
				t.Errorf("%s: %s is not removed: %v", kind.Name, name, command.Unset)
			}
		}
		if recipe.MatchesAny("WORLD_SIZE", command.Unset) {
			t.Errorf("%s: WORLD_SIZE is removed although the recipe sets it", kind.Name)
		}
	}
}

// What servers of a machine would share is each one's own.
func TestPrivate(t *testing.T) {
	t.Parallel()
	attention := []recipe.Arg{{Name: "enable-dp-attention", Value: true}}
	for _, c := range []struct {
		name, kind string
		private    Private
		args       []recipe.Arg
		want       Settings
	}{
		{"vllm", "vllm", Private{"/tmp/b1", 23456}, nil, Settings{Env: map[string]string{
			"VLLM_RPC_BASE_PATH": "/tmp/b1", "VLLM_PORT": "23456",
		}}},
		{
			"vllm in a container", "vllm",
			Private{"", 23456},
			nil,
			Settings{Env: map[string]string{"VLLM_PORT": "23456"}},
		},
		{"tgi", "tgi", Private{"/tmp/b1", 23456}, nil, Settings{Env: map[string]string{
			"SHARD_UDS_PATH": "/tmp/b1/shard", "MASTER_PORT": "23456",
		}}},
		{
			"tgi in a container", "tgi",
			Private{"", 23456},
			nil,
			Settings{Env: map[string]string{"MASTER_PORT": "23456"}},
		},
		{"sglang", "sglang", Private{"/tmp/b1", 23456}, nil, Settings{Args: []string{"--nccl-port", "23456"}}},
		{
			"sglang with a port of its own", "sglang",
			Private{"/tmp/b1", 23456},
			[]recipe.Arg{{Name: "nccl_port", Value: 1}},
			Settings{},
		},
		{"sglang with data-parallel attention", "sglang", Private{"/tmp/b1", 23456}, attention, Settings{
			Args: []string{"--nccl-port", "23456", "--dist-init-addr", "127.0.0.1:23457"},
		}},
	} {
		kind, ok := Lookup(c.kind)
		if !ok {
			t.Fatalf("no kind %q", c.kind)
		}
		if diff := cmp.Diff(c.want, kind.Private(c.private, recipe.Spec{Args: c.args, Replicas: 2})); diff != "" {
			t.Errorf("%s: Private() (-want +got):\n%s", c.name, diff)
		}
	}
}

// A model's files say how much memory a server needs only where it loads them as
// they are.
func TestWeightsOnGPU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, name string
		value      any
		want       bool
	}{
		{"llamacpp", "ctx-size", number("4096"), true},
		{"llamacpp", "ngl", number("99"), true},
		{"llamacpp", "n-gpu-layers", "all", true},
		{"llamacpp", "n-gpu-layers", number("20"), false},
		{"llamacpp", "n-cpu-moe", number("4"), false},
		{"llamacpp", "ts", "3,1", false},
		{"sglang", "tp-size", number("2"), true},
		{"sglang", "quantization", "fp8", false},
		{"tgi", "quantize", "eetq", false},
		{"tgi", "num-shard", number("2"), true},
		{"trtllm", "tp_size", number("2"), true},
		{"trtllm", "extra_llm_api_options", "x.yaml", false},
	} {
		kind, _ := Lookup(c.kind)
		if got := kind.Args.WeightsOnGPU([]recipe.Arg{{Name: c.name, Value: c.value}}); got != c.want {
			t.Errorf("%s with %s: %v: WeightsOnGPU() = %v, want %v", c.kind, c.name, c.value, got, c.want)
		}
	}
}

// ollama serve would remove blobs and downloads that others wait for.
func TestOllamaPrunesNothing(t *testing.T) {
	t.Parallel()
	kind, _ := Lookup("ollama")
	command, err := kind.Command(recipe.Spec{Model: "m"})
	if err != nil || command.Env["OLLAMA_NOPRUNE"] != "1" {
		t.Errorf("environment = %v, %v, want OLLAMA_NOPRUNE=1", command.Env, err)
	}
	command, err = kind.Command(recipe.Spec{Model: "m", Args: []recipe.Arg{{Name: "noprune", Value: false}}})
	if err != nil || command.Env["OLLAMA_NOPRUNE"] != "0" {
		t.Errorf("environment = %v, %v, want what the arguments say", command.Env, err)
	}
}

// TestTemplateInImage: the makers' image takes the place of a program, and what is said
// of the shell's variables is true of containers.
func TestTemplateInImage(t *testing.T) {
	for _, kind := range All() {
		text := kind.TemplateInImage()
		if kind.Image.Name != "" && (!strings.Contains(text, "\n    image: "+kind.Image.Name+"\n") ||
			strings.Contains(text, "# binary:") || strings.Contains(text, "from your shell")) {
			t.Errorf("%s: the scenario of its image is\n%s", kind.Name, text)
		}
	}
}
