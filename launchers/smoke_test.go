package launchers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/serverlog"
	"github.com/benchrig/bench/results"
)

// running is an OpenAI-like server that runs already. Paths that it is not
// given answer 404.
func running(t *testing.T, answers map[string]string) (*httptest.Server, *[]string) {
	t.Helper()
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.Method+" "+r.URL.Path]
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && r.URL.Path != "/tokenize" && !strings.Contains(string(body),
			`"stream":true`) {
			bodies = append(bodies, string(body))
		}
		status := http.StatusOK
		switch {
		case !known && r.Method == http.MethodPost && r.URL.Path != "/tokenize":
			text = `{"choices":[{"text":"a","finish_reason":"length"}]}`
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
	return s, &bodies
}

func TestSmoke(t *testing.T) {
	t.Parallel()
	const path = "/v1/chat/completions"
	const dead = `{"error":{"message":"_C::rotary_embedding: attempted to run this operator with Meta tensors","type":"InternalServerError","code":500}}`
	for _, c := range []struct {
		name, answer string
		says         string // in the failure; "": success
	}{
		{
			"a completion",
			`{"id":"x","choices":[{"message":{"role":"assistant","content":"Hello!"}}],"usage":{"completion_tokens":3}}`, "",
		},
		{"over several lines", "{\n \"choices\": [\n {\"message\": {\"content\": \"Hello!\"}}\n ]\n}\n", ""},
		{"a stream", "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n", ""},
		{"of an API of its own", `{"generated_text":"Hello"}`, ""},
		{"an error in the engine's words", "500 " + dead, "status 500, " + dead},
		{"an error that is told with 200", dead, "attempted to run this operator with Meta tensors"},
		{"no answer in the answer", `{"choices":[{"message":{"content":""}}]}`, "no completion in the answer"},
		{"a page", "<html>welcome</html>", "<html>welcome</html>"},
		{"another path", "404 {\"detail\":\"Not Found\"}", `status 404, {"detail":"Not Found"}`},
		{"nothing", "", "no completion in the answer"},
	} {
		s, bodies := running(t, map[string]string{"GET /v1/models": `{"data":[{"id":"m"}]}`, "POST " + path: c.answer})
		kind, _ := engines.Lookup("external")
		spec := recipe.Spec{Launcher: "external", BaseURL: s.URL, Smoke: recipe.Smoke{Path: path, Body: map[string]any{
			"messages": []any{map[string]any{"role": "user", "content": "Hello"}}, "max_tokens": json.Number("100"),
		}}}
		server, err := new(Launcher).Launch(t.Context(), kind, spec)
		if c.says != "" {
			failure, ok := errors.AsType[*results.Failure](err)
			if !ok || failure.Class != results.FailSmoke || !strings.Contains(failure.Message, c.says) {
				t.Errorf("%s: Launch: %v, want %s with %q", c.name, err, results.FailSmoke, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: Launch: %v", c.name, err)
			continue
		}
		answer := server.Info().Smoke
		if answer == nil || answer.Path != path || answer.Status != 200 || answer.Body != strings.TrimSpace(c.answer) ||
			answer.TookS <= 0 {
			t.Errorf("%s: smoke answer = %+v, want the answer and its time", c.name, answer)
		}
		phases := server.Info().ReadyPhases
		if phases[len(phases)-1].Name != "smoke" {
			t.Errorf("%s: phases = %v, want smoke as the last", c.name, phases)
		}
		if want := `{"max_tokens":100,"messages":[{"content":"Hello","role":"user"}]}`; len(*bodies) != 1 ||
			(*bodies)[0] != want {
			t.Errorf("%s: bodies = %q, want %q: as written, without a model", c.name, *bodies, want)
		}
	}
}

func TestNoSmoke(t *testing.T) {
	t.Parallel()
	s, bodies := running(t, map[string]string{"GET /v1/models": `{"data":[{"id":"m"}]}`})
	kind, _ := engines.Lookup("external")
	server, err := new(Launcher).Launch(t.Context(), kind, recipe.Spec{Launcher: "external", BaseURL: s.URL})
	if err != nil || server.Info().Smoke != nil || len(*bodies) != 0 {
		t.Errorf("Launch: %v, smoke %v after %q, want no such request", err, server.Info().Smoke, *bodies)
	}
}

// The failure of a first request that kills the engine is what the log says about it.
func TestSmokeKillsTheEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		engine fakeengine.Config
		class  results.FailureClass
		says   string
	}{
		{
			"with a fatal line",
			fakeengine.Config{FatalAt: 2, FatalLine: "ERROR EngineCore encountered a fatal error."},
			results.FailEngineDied, "EngineCore encountered a fatal error",
		},
		{"by its exit", fakeengine.Config{DieAt: 2}, results.FailExited, "exited with code 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kind, _ := engines.Lookup("vllm")
			b := prepare(t, kind, c.engine)
			b.spec.Smoke = recipe.Smoke{Path: endpoint.ChatPath, Body: map[string]any{"messages": []any{}}}
			_, err := b.Launch(t.Context(), b.kind, b.spec)
			failure, ok := errors.AsType[*results.Failure](err)
			if !ok || failure.Class != c.class || !strings.Contains(failure.Message, c.says) ||
				!strings.Contains(failure.Message, "at the smoke request: POST ") {
				t.Errorf("Launch: %v, want %s with %q", err, c.class, c.says)
			}
			if got := b.journal.kinds(); got != storyBad {
				t.Errorf("journal: %s, want %s", got, storyBad)
			}
		})
	}
}

// TestAnswersAndTheirReason: where a start ends by what the server answers, and
// its log says why, the failure has the log's class and both texts.
func TestAnswersAndTheirReason(t *testing.T) {
	t.Parallel()
	kind, _ := engines.Lookup("llamacpp")
	path := filepath.Join(t.TempDir(), "server.log")
	log, err := serverlog.Open(path, kind.Log, kind.Args.Slots, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	s := &started{log: log}
	answer := results.Failf(results.FailHTTP, "POST /v1/completions: status 500, model name=m failed to load")
	if got := s.withEvidence(answer); got != answer {
		t.Errorf("with a silent log: %v, want the answer alone", got)
	}

	const line = "[41137] 0.00.065.273 E srv  llama_server: exiting due to model loading error\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	log.Read()
	got := s.withEvidence(answer)
	if got.Class != results.FailModel || !strings.Contains(got.Message, "exiting due to model loading error") ||
		!strings.Contains(got.Message, "; POST /v1/completions: status 500") {
		t.Errorf("withEvidence() = %v, want %s with the line and the answer", got, results.FailModel)
	}
}
