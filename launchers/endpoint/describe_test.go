package endpoint

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// What servers say about themselves when they are asked.
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
				"/props": captured(t, "llama-server/props-b10587.json"), "/v1/models": captured(t,
					"llama-server/models-b10587.json"),
			},
			"b10587-3f545becc", &results.Startup{
				ContextLen: new(int64(4096)), Slots: new(int64(2)),
				ModelBytes: new(int64(68046336)),
			},
		},
		{
			"ollama",
			map[string]string{
				"/api/version": captured(t, "startup/ollama-version.json"),
				"/api/ps":      captured(t, "startup/ollama-ps.json"),
			},
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
			"3.2.0", &results.Startup{
				KVTokens: new(int64(60000)), Slots: new(int64(128)),
				ContextLen: new(int64(4096)),
			},
		},
		{
			"vllm",
			map[string]string{"/v1/models": `{"data":[{"id":"m","max_model_len":8192}]}`},
			"",
			&results.Startup{ContextLen: new(int64(8192))},
		},
		{
			"vllm",
			map[string]string{"/server_info": `{"vllm_config":{"model_config":{"dtype":"bfloat16"},"a":[1,2]}}`},
			"", &results.Startup{},
		},
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
		server := New(kind, recipe.Spec{Launcher: c.kind, BaseURL: remote.URL})
		got, version := server.Describe(t.Context(), serverlog.Facts{})
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
			t.Errorf("%s: arguments = %v: a special token is not a secret", c.kind, got.Arguments)
		}
		short := *got
		short.Arguments, short.Phases = nil, nil
		if diff := cmp.Diff(c.want, &short); diff != "" || version != c.version {
			t.Errorf("%s: version %q, want %q; startup (-want +got):\n%s", c.kind, version, c.version, diff)
		}
	}
}

// llama-server accepts any name: the file counts.
func TestOtherModelFile(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[{"id":"tiny"}],"model_path":"/models/other.gguf"}`)
	}))
	defer remote.Close()
	kind, _ := engines.Lookup("llamacpp")
	for model, want := range map[string]bool{
		"/data/tiny.gguf": true, "/data/other.gguf": false, "org/repo": false,
		"https://x/tiny.gguf": false,
	} {
		server := New(kind, recipe.Spec{BaseURL: remote.URL, Model: model, ServedName: "tiny"})
		found, _, failure := server.ExpectModel(t.Context())
		if wrong := failure != nil && failure.Class == results.FailWrongModel; wrong != want || found == want {
			t.Errorf("expectModel() of %q = %v, %v, want a wrong model: %v", model, found, failure, want)
		}
	}
}

// Captured is a file that an engine wrote.
func captured(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../engines/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCapturedServerInfo: what vLLM 0.22 says about itself in development mode, and
// what it says where it cannot, which hides nothing else.
func TestCapturedServerInfo(t *testing.T) {
	t.Parallel()
	const (
		list   = `{"object":"list","data":[{"id":"tiny","owned_by":"vllm","max_model_len":1024}]}`
		unable = `{"error":{"message":"Could not collect pip list output (pip or uv module not available)",` +
			`"type":"InternalServerError","param":null,"code":500}}`
	)
	for name, c := range map[string]struct {
		status int
		body   string
		want   map[string]string
	}{
		"told": {http.StatusOK, captured(t, "vllm-0.22-cpu/server-info.json"), map[string]string{
			"model_config.dtype": "torch.float32", "model_config.max_model_len": "1024",
			"cache_config.num_gpu_blocks": "131072", "cache_config.gpu_memory_utilization": "0.92",
			"parallel_config.tensor_parallel_size": "1", "scheduler_config.max_num_seqs": "64",
		}},
		"not told": {http.StatusInternalServerError, unable, nil},
	} {
		remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.String() {
			case "/server_info?config_format=json":
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			case "/v1/models":
				fmt.Fprint(w, list)
			default:
				http.NotFound(w, r)
			}
		}))
		kind, _ := engines.Lookup("vllm")
		startup, _ := New(kind, recipe.Spec{BaseURL: remote.URL}).Describe(t.Context(), serverlog.Facts{})
		remote.Close()
		if startup == nil || startup.ContextLen == nil || *startup.ContextLen != 1024 {
			t.Errorf("%s: Describe() = %+v, want a context of 1024 tokens", name, startup)
			continue
		}
		for place, want := range c.want {
			if got := startup.Arguments[place]; got != want {
				t.Errorf("%s: argument %s = %q, want %q", name, place, got, want)
			}
		}
	}
}
