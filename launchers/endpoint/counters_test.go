package endpoint

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
)

func TestServerMetrics(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("vllm:num_requests_running 3\nvllm:prompt_tokens_total 7\n"))
	}))
	defer remote.Close()
	vllm, _ := engines.Lookup("vllm")
	server := New(vllm, recipe.Spec{BaseURL: remote.URL})
	got, err := server.Metrics(t.Context())
	if diff := cmp.Diff(map[string]float64{scrape.Running: 3, scrape.InputTokensTotal: 7}, got); err != nil ||
		diff != "" {
		t.Errorf("Metrics() = %v: (-want +got)\n%s", err, diff)
	}
	none := httptest.NewServer(fakeengine.Handler(fakeengine.Config{}))
	defer none.Close()
	if got, err := New(vllm, recipe.Spec{BaseURL: none.URL}).Metrics(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("Metrics() of a server without = %v, %v, want nothing", got, err)
	}
	if got, err := New(vllm, recipe.Spec{BaseURL: "http://127.0.0.1:1"}).Metrics(t.Context()); err == nil {
		t.Errorf("Metrics() of nobody = %v, want an error", got)
	}
	ollama, _ := engines.Lookup("ollama")
	if got, err := New(ollama, recipe.Spec{BaseURL: none.URL}).Metrics(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("Metrics() of a kind without = %v, %v, want nothing", got, err)
	}
}
