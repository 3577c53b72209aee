package serverlog

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// told is what a kind's milestones make of a log.
func told(t *testing.T, name, log string) Facts {
	t.Helper()
	kind, ok := engines.Lookup(name)
	if !ok {
		t.Fatalf("no kind %s", name)
	}
	l := &Log{known: kind.Log, found: true}
	l.feed([]byte(log))
	return l.startup
}

func TestStartupLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, log, version string
		want               *results.Startup
	}{
		{"vllm", readCapture(t, "startup/vllm-v1.log"), "0.11.0", &results.Startup{
			Phases: []results.StartupPhase{
				{Name: "weights", Seconds: 7.25},
				{Name: "compile", Seconds: 21.74},
				{Name: "graph-capture", Seconds: 12},
				{Name: "init", Seconds: 54.63},
			},
			KVTokens: new(int64(447824)), MaxConcurrency: new(54.67), ContextLen: new(int64(8192)),
			ModelBytes: new(int64(16094208825)),
			Arguments: map[string]string{
				"model_tag": "org/m", "max_model_len": "8192", "tensor_parallel_size": "2", "api_key": "['k-secret']",
				"speculative_config": "{'method': 'ngram', 'num_speculative_tokens': 4}",
			},
		}},
		{"vllm", readCapture(t, "startup/vllm-v0.log"), "0.6.4.post1", &results.Startup{
			Phases: []results.StartupPhase{{Name: "graph-capture", Seconds: 19}}, KVTokens: new(int64(32000)),
			MaxConcurrency: new(7.81),
			ContextLen:     new(int64(4096)), ModelBytes: new(int64(9119826182)),
			Arguments: map[string]string{
				"subparser": "serve", "model_tag": "org/m", "block_size": "32",
				"max_num_seqs": "64", "disable_log_requests": "True",
			},
		}},
		{"sglang", readCapture(t, "startup/sglang.log"), "", &results.Startup{
			Phases: []results.StartupPhase{
				{Name: "weights", Seconds: 12.34},
				{Name: "graph-capture", Seconds: 20.01},
			},
			KVTokens: new(int64(399000)), Slots: new(int64(2048)), ContextLen: new(int64(131072)),
			ModelBytes: new(int64(16127602196)),
			Arguments: map[string]string{
				"model_path": "org/m", "tp_size": "2", "mem_fraction_static": "0.88",
				"json": `{"a": 1}`,
			},
		}},
		{
			"tgi",
			"2025-01-01T00:00:00.000000Z  INFO shard-manager: text_generation_launcher: Shard ready in 12.5s " +
				"rank=0\nINFO text_generation_router: Setting max batch total tokens to 60000\n", "", &results.Startup{
				Phases: []results.StartupPhase{{Name: "weights", Seconds: 12.5}}, KVTokens: new(int64(60000)),
			},
		},
		{"llamacpp", readCapture(t, "llama-server/serving-b10587.stderr"), "", &results.Startup{
			Phases: []results.StartupPhase{{Name: "weights", Seconds: 0.701497}}, Slots: new(int64(2)),
			ContextLen: new(int64(4096)),
		}},
		{
			"ollama", `level=INFO source=server.go:1289 msg="llama runner started in 1.52 seconds"` + "\n", "",
			&results.Startup{
				Phases: []results.StartupPhase{{Name: "weights", Seconds: 1.52}},
			},
		},
		{"vllm", "nothing of note\n", "", nil},
	} {
		got := told(t, c.kind, c.log)
		if diff := cmp.Diff(c.want, got.Startup(), approx); diff != "" || got.Version != c.version {
			t.Errorf("%s: version %q, want %q; startup (-want +got):\n%s", c.kind, got.Version, c.version, diff)
		}
	}
}

// approx compares seconds and sizes that went through decimal text.
var approx = cmp.Comparer(func(a, b float64) bool { return a == b || a-b < 1e-6*a && b-a < 1e-6*b })

func TestParsePython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{"{}", map[string]string{}},
		{"{'a': 1, 'b': 'x, y', 'c': [1, 2], 'd': None}", map[string]string{"a": "1", "b": "x, y", "c": "[1, 2]"}},
		{"Namespace(a='it\\'s', b=True, c=<object at 0x1, 2>)", map[string]string{
			"a": `it\'s`, "b": "True",
			"c": "<object at 0x1, 2>",
		}},
		{"model='org/m', parallel=Config(tp=2, pp=1), x={'y': 'z'}, ", map[string]string{
			"model":    "org/m",
			"parallel": "Config(tp=2, pp=1)", "x": "{'y': 'z'}",
		}},
		{`a="b=c"`, map[string]string{"a": "b=c"}},
		{"no pairs at all", map[string]string{}},
		{"{'unended': 'text", map[string]string{}},
		{"a=" + strings.Repeat("x", 1000), map[string]string{"a": strings.Repeat("x", MaxArgument) + " ..."}},
	} {
		if diff := cmp.Diff(c.want, parsePython(c.text)); diff != "" {
			t.Errorf("parsePython(%q): (-want +got)\n%s", c.text, diff)
		}
	}
}

func FuzzStartup(f *testing.F) {
	f.Add(readCapture(f, "startup/vllm-v1.log"))
	f.Add(readCapture(f, "startup/vllm-v0.log"))
	f.Add(readCapture(f, "startup/sglang.log"))
	f.Add("non-default args: {'a': [1, 'b'}\n9999999.99.999.999 x load_model: loading model\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range engines.All() {
			l := &Log{known: kind.Log, found: true}
			l.feed([]byte(text))
			got := l.startup.Startup()
			if got == nil {
				continue
			}
			if len(got.Arguments) > MaxArguments {
				t.Errorf("%s: %d arguments from %q", kind.Name, len(got.Arguments), text)
			}
			for name, value := range got.Arguments {
				if name == "" || len(value) > MaxArgument+8 {
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

func readCapture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../engines/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
