package endpoint

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"id":"m","root":"org/m"}]}`
	for _, c := range []struct {
		name    string
		answers map[string]string
		want    Identity
		fails   bool
	}{
		{
			"vllm",
			map[string]string{"GET /v1/models": list, "GET /version": `{"version":"0.9.1"}`},
			Identity{Version: "0.9.1", Model: "m", Listed: true, Root: "org/m"},
			false,
		},
		{
			"llama-server",
			map[string]string{
				"GET /v1/models": `{"data":[{"id":"m"}]}`,
				"GET /props":     `{"build_info":"b1-x","model_path":"/models/a.gguf"}`,
			},
			Identity{Version: "b1-x", Model: "m", Listed: true, Root: "/models/a.gguf"},
			false,
		},
		{
			"tgi has no list",
			map[string]string{"GET /info": `{"model_id":"org/m","version":"3.0"}`},
			Identity{Version: "3.0", Model: "m", Listed: true, Root: "org/m"},
			false,
		},
		{
			"another model",
			map[string]string{"GET /v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`},
			Identity{Model: "m", Others: `"a", "b"`},
			false,
		},
		{"an error", map[string]string{"GET /v1/models": "500 no"}, Identity{Model: "m", Listed: true}, true},
	} {
		s := answering(t, c.answers)
		kind, _ := engines.Lookup("external")
		server := New(kind, recipe.Spec{Launcher: "external", BaseURL: s.URL, Model: "m"})
		if got, err := server.Identity(t.Context()); got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: Identity() = %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestIdentityChanged(t *testing.T) {
	t.Parallel()
	before := Identity{Version: "1", Model: "m", Listed: true, Root: "/a.gguf"}
	for _, c := range []struct {
		now  Identity
		want string
	}{
		{before, ""},
		{Identity{Model: "m", Listed: true}, ""},
		{Identity{Version: "2", Model: "m", Listed: true, Root: "/a.gguf"}, `its version is "2", before "1"`},
		{
			Identity{Version: "1", Model: "m", Listed: true, Root: "/b.gguf"},
			`it has loaded "/b.gguf", before "/a.gguf"`,
		},
		{Identity{Version: "1", Model: "m", Others: `"x"`, Root: "/a.gguf"}, `it serves "x", not "m"`},
	} {
		if got := c.now.Changed(before); got != c.want {
			t.Errorf("%+v.Changed() = %q, want %q", c.now, got, c.want)
		}
	}
}

func TestWrongModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, model string
		id          Identity
		wrong       string
	}{
		{"llamacpp", "/m/q4.gguf", Identity{Model: "q4", Listed: true, Root: "/other/q4.gguf"}, ""},
		{
			"llamacpp", "/m/q4.gguf",
			Identity{Model: "q4", Listed: true, Root: "/m/q8.gguf"},
			`has loaded "/m/q8.gguf", not "/m/q4.gguf"`,
		},
		{"llamacpp", "/m/q4.gguf", Identity{Model: "q4", Listed: true}, ""},
		{"vllm", "org/m", Identity{Model: "org/m", Listed: true, Root: "/elsewhere/m"}, ""},
		{"vllm", "org/m", Identity{Model: "org/m", Others: `"x"`}, `serves "x", not "org/m"`},
	} {
		kind, _ := engines.Lookup(c.kind)
		server := New(kind, recipe.Spec{Launcher: c.kind, BaseURL: "http://127.0.0.1:1", Model: c.model})
		failure := server.WrongModel(c.id)
		if c.wrong == "" && failure == nil {
			continue
		}
		if c.wrong == "" || failure == nil || failure.Class != results.FailWrongModel ||
			!strings.Contains(failure.Message, c.wrong) {
			t.Errorf("%s: WrongModel(%+v) = %v, want %q", c.kind, c.id, failure, c.wrong)
		}
	}
}

// answering is a server with one answer for each "METHOD PATH"; it answers 404
// to all else.
func answering(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.Method+" "+r.URL.Path]
		status := http.StatusOK
		switch {
		case !known:
			status, text = http.StatusNotFound, "not found"
		case strings.HasPrefix(text, "5") || strings.HasPrefix(text, "4"):
			_, _ = fmt.Sscanf(text, "%d", &status)
			_, text, _ = strings.Cut(text, " ")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}
