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
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

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
				"/props": captured(t, "llama-server/props-b10587.json"), "/v1/models": captured(t, "llama-server/models-b10587.json"),
			},
			"b10587-3f545becc", &results.Startup{ContextLen: new(int64(4096)), Slots: new(int64(2)), ModelBytes: new(int64(68046336))},
		},
		{
			"ollama",
			map[string]string{"/api/version": captured(t, "startup/ollama-version.json"), "/api/ps": captured(t, "startup/ollama-ps.json")},
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
		got, version := server.describe(t.Context(), serverlog.Facts{})
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
		"vllm": captured(t, "startup/vllm-v1.log"), "simulator": captured(t, "startup/vllm-v0.log"), "sglang": captured(t, "startup/sglang.log"), "llamacpp": captured(t, "llama-server/serving-b10587.stderr"),
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

// captured is a file that an engine wrote.
func captured(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("engines/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
