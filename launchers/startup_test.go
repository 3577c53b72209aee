package launchers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// told is what a kind's milestones make of a log.
func told(t *testing.T, name, log string) startupLog {
	t.Helper()
	kind, ok := engines.Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	l := &serverLog{kind: kind, found: true}
	l.feed([]byte(log))
	return l.startup
}

const vllmV1Log = "\x1b[0;36m(APIServer pid=1)\x1b[0;0m INFO 11-02 10:00:00 [api_server.py:1839] vLLM API server version 0.11.0\n" +
	"(APIServer pid=1) INFO 11-02 10:00:00 [utils.py:233] non-default args: {'model_tag': 'org/m', 'max_model_len': 8192, 'tensor_parallel_size': 2, 'speculative_config': {'method': 'ngram', 'num_speculative_tokens': 4}, 'api_key': ['k-secret']}\n" +
	"Loading safetensors checkpoint shards:   0% Completed | 0/2\rLoading safetensors checkpoint shards: 100% Completed | 2/2\r\n" +
	"(Worker_TP0 pid=3) INFO 11-02 10:00:09 [default_loader.py:267] Loading weights took 6.61 seconds\n" +
	"(Worker_TP1 pid=4) INFO 11-02 10:00:09 [default_loader.py:267] Loading weights took 7.25 seconds\n" +
	"(Worker_TP0 pid=3) INFO 11-02 10:00:10 [gpu_model_runner.py:2653] Model loading took 14.9889 GiB and 7.906 seconds\n" +
	"(Worker_TP0 pid=3) INFO 11-02 10:00:20 [backends.py:559] Dynamo bytecode transform time: 4.51 s\n" +
	"(Worker_TP0 pid=3) INFO 11-02 10:00:50 [monitor.py:34] torch.compile takes 21.74 s in total\n" +
	"(EngineCore_DP0 pid=2) INFO 11-02 10:00:51 [kv_cache_utils.py:1087] GPU KV cache size: 447,840 tokens\n" +
	"(EngineCore_DP0 pid=2) INFO 11-02 10:00:51 [kv_cache_utils.py:1087] GPU KV cache size: 447,824 tokens\n" +
	"(EngineCore_DP0 pid=2) INFO 11-02 10:00:51 [kv_cache_utils.py:1091] Maximum concurrency for 8,192 tokens per request: 54.67x\n" +
	"(Worker_TP0 pid=3) INFO 11-02 10:01:05 [gpu_model_runner.py:3480] Graph capturing finished in 12 secs, took 0.52 GiB\n" +
	"(EngineCore_DP0 pid=2) INFO 11-02 10:01:05 [core.py:210] init engine (profile, create kv cache, warmup model) took 54.63 seconds\n"

const vllmV0Log = "INFO 12-16 16:40:00 api_server.py:585] vLLM API server version 0.6.4.post1\n" +
	"INFO 12-16 16:40:00 api_server.py:586] args: Namespace(subparser='serve', model_tag='org/m', block_size=32, max_num_seqs=64, served_model_name=None, disable_log_requests=True)\n" +
	"INFO 12-16 16:40:30 model_runner.py:1077] Loading model weights took 8.4935 GB\n" +
	"INFO 12-16 16:40:40 distributed_gpu_executor.py:57] # GPU blocks: 1000, # CPU blocks: 2048\n" +
	"INFO 12-16 16:40:40 distributed_gpu_executor.py:61] Maximum concurrency for 4096 tokens per request: 7.81x\n" +
	"INFO 12-16 16:40:59 model_runner.py:1527] Graph capturing finished in 19 secs.\n"

const sglangLog = "[2025-05-01 10:00:00] server_args=ServerArgs(model_path='org/m', tp_size=2, mem_fraction_static=0.88, hf_token=None, json='{\"a\": 1}')\n" +
	"[2025-05-01 10:00:20 TP0] Load weight end. elapsed=12.34 s, type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.73 GB, mem usage=15.02 GB.\n" +
	"[2025-05-01 10:00:21 TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 400000, K size: 24.4 GB, V size: 24.4 GB\n" +
	"[2025-05-01 10:00:41 TP0] Capture cuda graph end. Time elapsed: 20.01 s. mem usage=1.9 GB. avail mem=8.8 GB.\n" +
	"[2025-05-01 10:00:42 TP0] max_total_num_tokens=399000, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=131072\n"

func TestStartupLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, log, version string
		want               *results.Startup
	}{
		{"vllm", vllmV1Log, "0.11.0", &results.Startup{
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 7.25}, {Name: "compile", Seconds: 21.74}, {Name: "graph-capture", Seconds: 12}, {Name: "init", Seconds: 54.63}},
			KVTokens: new(int64(447824)), MaxConcurrency: new(54.67), ContextLen: new(int64(8192)), ModelBytes: new(int64(16094208825)),
			Arguments: map[string]string{
				"model_tag": "org/m", "max_model_len": "8192", "tensor_parallel_size": "2", "api_key": "['k-secret']",
				"speculative_config": "{'method': 'ngram', 'num_speculative_tokens': 4}",
			},
		}},
		{"vllm", vllmV0Log, "0.6.4.post1", &results.Startup{
			Phases: []results.StartupPhase{{Name: "graph-capture", Seconds: 19}}, KVTokens: new(int64(32000)), MaxConcurrency: new(7.81),
			ContextLen: new(int64(4096)), ModelBytes: new(int64(9119826182)),
			Arguments: map[string]string{"subparser": "serve", "model_tag": "org/m", "block_size": "32", "max_num_seqs": "64", "disable_log_requests": "True"},
		}},
		{"sglang", sglangLog, "", &results.Startup{
			Phases:   []results.StartupPhase{{Name: "weights", Seconds: 12.34}, {Name: "graph-capture", Seconds: 20.01}},
			KVTokens: new(int64(399000)), Slots: new(int64(2048)), ContextLen: new(int64(131072)), ModelBytes: new(int64(16127602196)),
			Arguments: map[string]string{"model_path": "org/m", "tp_size": "2", "mem_fraction_static": "0.88", "json": `{"a": 1}`},
		}},
		{"tgi", "2025-01-01T00:00:00.000000Z  INFO shard-manager: text_generation_launcher: Shard ready in 12.5s rank=0\nINFO text_generation_router: Setting max batch total tokens to 60000\n", "", &results.Startup{
			Phases: []results.StartupPhase{{Name: "weights", Seconds: 12.5}}, KVTokens: new(int64(60000)),
		}},
		{"llamacpp", captured(t, "serving-b10587.stderr"), "", &results.Startup{
			Phases: []results.StartupPhase{{Name: "weights", Seconds: 0.701497}}, Slots: new(int64(2)), ContextLen: new(int64(4096)),
		}},
		{"ollama", `level=INFO source=server.go:1289 msg="llama runner started in 1.52 seconds"` + "\n", "", &results.Startup{
			Phases: []results.StartupPhase{{Name: "weights", Seconds: 1.52}},
		}},
		{"vllm", "nothing of note\n", "", nil},
	} {
		got := told(t, c.kind, c.log)
		if diff := cmp.Diff(c.want, got.startup(), approx); diff != "" || got.version != c.version {
			t.Errorf("%s: version %q, want %q; startup (-want +got):\n%s", c.kind, got.version, c.version, diff)
		}
	}
}

// approx compares seconds and sizes that went through decimal text.
var approx = cmp.Comparer(func(a, b float64) bool { return a == b || a-b < 1e-6*a && b-a < 1e-6*b })

func captured(t *testing.T, name string) string {
	t.Helper()
	return readFile(t, "engines/testdata/llama-server/"+name)
}

// What servers say of themselves when they are asked.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		answers map[string]string
		version string
		want    *results.Startup
	}{
		{
			"llamacpp",
			map[string]string{
				"/props": readFile(t, "engines/testdata/llama-server/props-b10587.json"), "/v1/models": readFile(t, "testdata/llama-server/models-b10587.json"),
			},
			"b10587-3f545becc", &results.Startup{ContextLen: new(int64(4096)), Slots: new(int64(2)), ModelBytes: new(int64(68046336))},
		},
		{
			"ollama",
			map[string]string{"/api/version": readFile(t, "testdata/startup/ollama-version.json"), "/api/ps": readFile(t, "testdata/startup/ollama-ps.json")},
			"0.0.0", &results.Startup{ContextLen: new(int64(2048)), ModelBytes: new(int64(1944064))},
		},
		{
			"sglang",
			map[string]string{"/get_server_info": `{"version":"0.4.6","tp_size":2,"api_key":"k-123","max_total_num_tokens":1000,"internal_states":[{"effective_max_running_requests_per_dp":128}]}`},
			"0.4.6", &results.Startup{KVTokens: new(int64(1000)), Slots: new(int64(128))},
		},
		{
			"tgi",
			map[string]string{"/info": `{"model_id":"org/m","version":"3.2.0","max_total_tokens":4096,"max_batch_total_tokens":60000,"max_concurrent_requests":128}`},
			"3.2.0", &results.Startup{KVTokens: new(int64(60000)), Slots: new(int64(128)), ContextLen: new(int64(4096))},
		},
		{"vllm", map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":8192}]}`}, "", &results.Startup{ContextLen: new(int64(8192))}},
		{"vllm", map[string]string{"/server_info": `{"vllm_config":{"model_config":{"dtype":"bfloat16"},"a":[1,2]}}`}, "", &results.Startup{}},
		{"vllm", map[string]string{"/server_info": `[`}, "", nil},
	} {
		kind, _ := engines.Lookup(c.kind)
		remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := c.answers[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
			}
			fmt.Fprint(w, body)
		}))
		defer remote.Close()
		server := Attach(kind, recipe.Spec{Launcher: c.kind, BaseURL: remote.URL})
		got, version := server.describe(t.Context(), startupLog{})
		if c.want == nil && got == nil {
			continue
		}
		if got == nil || c.want == nil {
			t.Errorf("%s: describe() = %+v, want %+v", c.kind, got, c.want)
			continue
		}
		if text := fmt.Sprint(got.Arguments); strings.Contains(text, "k-123") {
			t.Errorf("%s: arguments = %s, want no key", c.kind, text)
		}
		if c.kind != "tgi" && c.kind != "llamacpp" && got.Arguments["bos_token"] == "***" {
			t.Errorf("%s: arguments = %v: a special token is no secret", c.kind, got.Arguments)
		}
		short := *got
		short.Arguments, short.Phases = nil, nil
		if diff := cmp.Diff(c.want, &short); diff != "" || version != c.version {
			t.Errorf("%s: version %q, want %q; startup (-want +got):\n%s", c.kind, version, c.version, diff)
		}
	}
}

// What the log of a start says comes with the server's info, for every kind
// that has milestones.
func TestConformanceStartup(t *testing.T) {
	t.Parallel()
	logs := map[string]string{
		"vllm": vllmV1Log, "simulator": vllmV0Log, "sglang": sglangLog, "llamacpp": captured(t, "serving-b10587.stderr"),
		"tgi": "INFO text_generation_launcher: Shard ready in 12.5s rank=0", "ollama": `msg="llama runner started in 1.52 seconds"`,
	}
	for _, kind := range launched() {
		if len(kind.Milestones) == 0 {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, kind, fakeengine.Config{Lines: strings.Split(logs[kind.Name], "\n")})
			info := b.launch(t).Info()
			if info.Startup == nil || len(info.Startup.Phases) == 0 {
				t.Fatalf("Info().Startup = %+v, want phases", info.Startup)
			}
			if text := fmt.Sprint(info.Startup.Arguments); strings.Contains(text, "k-secret") || info.Startup.Arguments == nil {
				t.Errorf("arguments = %v, want some without the key", info.Startup.Arguments)
			}
			if info.Version == "" {
				t.Error("no version")
			}
		})
	}
}

// llama-server takes any name that it is told: the file counts.
func TestOtherModelFile(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"tiny"}],"model_path":"/models/other.gguf"}`)
	}))
	defer remote.Close()
	kind, _ := engines.Lookup("llamacpp")
	for model, want := range map[string]bool{"/data/tiny.gguf": true, "/data/other.gguf": false, "org/repo": false, "https://x/tiny.gguf": false} {
		strikes := 0
		got := Attach(kind, recipe.Spec{BaseURL: remote.URL, Model: model, ServedName: "tiny"}).tryModel(t.Context(), &strikes)
		if wrong := got.final != nil && got.final.Class == results.FailWrongModel; wrong != want || got.done == want {
			t.Errorf("tryModel() of %q = %+v, want a wrong model: %v", model, got, want)
		}
	}
}

func TestParsePython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{"{}", map[string]string{}},
		{"{'a': 1, 'b': 'x, y', 'c': [1, 2], 'd': None}", map[string]string{"a": "1", "b": "x, y", "c": "[1, 2]"}},
		{"Namespace(a='it\\'s', b=True, c=<object at 0x1, 2>)", map[string]string{"a": `it\'s`, "b": "True", "c": "<object at 0x1, 2>"}},
		{"model='org/m', parallel=Config(tp=2, pp=1), x={'y': 'z'}, ", map[string]string{"model": "org/m", "parallel": "Config(tp=2, pp=1)", "x": "{'y': 'z'}"}},
		{`a="b=c"`, map[string]string{"a": "b=c"}},
		{"no pairs at all", map[string]string{}},
		{"{'unended': 'text", map[string]string{}},
		{"a=" + strings.Repeat("x", 1000), map[string]string{"a": strings.Repeat("x", maxArgument) + " ..."}},
	} {
		if diff := cmp.Diff(c.want, parsePython(c.text)); diff != "" {
			t.Errorf("parsePython(%q): (-want +got)\n%s", c.text, diff)
		}
	}
}

func FuzzStartup(f *testing.F) {
	f.Add(vllmV1Log)
	f.Add(vllmV0Log)
	f.Add(sglangLog)
	f.Add("non-default args: {'a': [1, 'b'}\n9999999.99.999.999 x load_model: loading model\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range engines.All() {
			l := &serverLog{kind: kind, found: true}
			l.feed([]byte(text))
			got := l.startup.startup()
			if got == nil {
				continue
			}
			if len(got.Arguments) > maxArguments {
				t.Errorf("%s: %d arguments from %q", kind.Name, len(got.Arguments), text)
			}
			for name, value := range got.Arguments {
				if name == "" || len(value) > maxArgument+8 {
					t.Errorf("%s: argument %q=%q from %q", kind.Name, name, value, text)
				}
			}
			for _, phase := range got.Phases {
				if phase.Seconds < 0 {
					t.Errorf("%s: phase %+v from %q", kind.Name, phase, text)
				}
			}
			for _, n := range []*int64{got.KVTokens, got.ModelBytes, got.ContextLen, got.Slots} {
				if n != nil && *n < 0 {
					t.Errorf("%s: %+v from %q", kind.Name, got, text)
				}
			}
		}
	})
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
