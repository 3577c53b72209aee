package endpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// router answers as llama-server (build 11669) with --models-dir: what is asked
// without the name of a model is refused, and a model describes itself once it is
// loaded.
func router(t *testing.T) string {
	t.Helper()
	const (
		unnamed  = `{"error":{"code":400,"message":"model name is missing from the request","type":"invalid_request_error"}}`
		unloaded = `{"data":[{"id":"other","status":{"value":"unloaded"}},{"id":"a b","owned_by":"llamacpp",` +
			`"status":{"value":"unloaded"}}]}`
		loaded = `{"data":[{"id":"other","status":{"value":"unloaded"}},{"id":"a b","owned_by":"llamacpp",` +
			`"status":{"value":"loaded"},"meta":{"n_vocab":1184,"n_ctx":1024,"size":1198592}}]}`
	)
	answers := map[string]string{
		"/props": `{"total_slots":2,"default_generation_settings":{"n_ctx":1024},"build_info":"b11669-Debian",` +
			`"model_path":"/models/a b.gguf"}`,
		"/metrics":  "llamacpp:requests_processing 1\nllamacpp:prompt_tokens_total 12\n",
		"/slots":    `[{"id":0,"is_processing":true}]`,
		"/slots/0":  `{}`,
		"/tokenize": `{"tokens":[694,337]}`, "/detokenize": `{"content":"GH"}`,
	}

	var inUse atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string `json:"model"`
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &asked)
		name := r.URL.Query().Get("model") + asked.Model
		text, known := answers[r.URL.Path]
		switch {
		case r.URL.Path == "/v1/models" && inUse.Load():
			text = loaded
		case r.URL.Path == "/v1/models":
			text = unloaded
		case !known:
			http.NotFound(w, r)
			return
		case name != "a b":
			w.WriteHeader(http.StatusBadRequest)
			text = unnamed
		default:
			inUse.Store(true)
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)

	return s.URL
}

// TestRouter: whatever a router is asked names the model, so that it counts
// tokens, requests and slots as a server of one model does.
func TestRouter(t *testing.T) {
	t.Parallel()
	kind, _ := engines.Lookup("llamacpp")
	e := New(kind, recipe.Spec{BaseURL: router(t), ServedName: "a b"})
	if found, a, failure := e.ExpectModel(t.Context()); !found || failure != nil || !e.LoadsLate() {
		t.Fatalf("ExpectModel() = %t, %v, %v, loads late %t, want a model that is loaded late", found, a, failure,
			e.LoadsLate())
	}
	if _, known := e.VocabSize(t.Context()); known {
		t.Error("the vocabulary of a model is known before it is loaded")
	}

	if ids, err := e.Tokenize(t.Context(), "hello", false); err != nil || len(ids) != 2 {
		t.Errorf("Tokenize() = %v, %v, want 2 tokens", ids, err)
	}
	if text, err := e.Detokenize(t.Context(), []int{300}); err != nil || text != "GH" {
		t.Errorf("Detokenize() = %q, %v, want GH", text, err)
	}

	startup, version := e.Describe(t.Context(), serverlog.Facts{})
	if startup == nil {
		t.Fatal("Describe() = nil, want what the router tells")
	}
	startup.Arguments = nil
	want := &results.Startup{Phases: []results.StartupPhase{}, ContextLen: new(int64(1024)), Slots: new(int64(2))}
	if diff := cmp.Diff(want, startup); diff != "" || version != "b11669-Debian" {
		t.Errorf("Describe(): version %q, startup (-want +got):\n%s", version, diff)
	}
	if vocab, _ := e.VocabSize(t.Context()); vocab != 1184 {
		t.Errorf("VocabSize() = %d, want that of the loaded model, 1184", vocab)
	}

	if counters, err := e.Counters(t.Context()); err != nil || counters[scrape.InputTokensTotal] != 12 {
		t.Errorf("Counters() = %v, %v, want 12 input tokens", counters, err)
	}
	if busy, known := e.Outstanding(t.Context()); busy != 1 || !known {
		t.Errorf("Outstanding() = %d, %t, want 1 request", busy, known)
	}
	if how, err := e.ResetCache(t.Context()); err != nil {
		t.Errorf("ResetCache() = %q, %v", how, err)
	}
	if id, err := e.Identity(t.Context()); err != nil || id.Root != "/models/a b.gguf" {
		t.Errorf("Identity() = %+v, %v, want the model's file", id, err)
	}
}

// TestDiscoverRouter: bench load finds what a router's model is bounded by.
func TestDiscoverRouter(t *testing.T) {
	t.Parallel()
	d, err := Discover(t.Context(), recipe.Spec{BaseURL: router(t)}, "a b")
	if err != nil || d.Kind != "llamacpp" || d.MaxModelLen != 1024 || d.LenFrom != "/props" {
		t.Errorf("Discover() = %+v, %v, want llama.cpp with 1024 tokens by /props", d, err)
	}
}
