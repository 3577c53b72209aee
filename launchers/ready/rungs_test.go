package ready

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// climb goes up the HTTP part of the ladder of a server that answers each
// "METHOD PATH" as given, "500 text" for another status than 200.
func climb(t *testing.T, kind engines.Kind, spec recipe.Spec, answers map[string]string) (*results.Failure, []string) {
	t.Helper()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Tenant")+" "+string(body))
		text, known := answers[r.Method+" "+r.URL.Path]
		if strings.Contains(string(body), `"max_tokens"`) && answers["max_tokens"] != "" {
			text, known = answers["max_tokens"], true
		}
		status := http.StatusOK
		if !known {
			status, text = http.StatusNotFound, "not found"
		} else if n, err := fmt.Sscanf(text, "%d ", &status); n == 1 && err == nil {
			_, text, _ = strings.Cut(text, " ")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)

	spec.BaseURL, spec.Ready.Timeout = s.URL, 20*time.Second
	e := endpoint.New(kind, spec)
	p := NewProgress(spec.Ready, time.Now(), nil)
	return p.Run(t.Context(), []Stage{Model(e, kind), Token(e)}), asked
}

func TestLadder(t *testing.T) {
	t.Parallel()
	const (
		list  = `{"data":[{"id":"m"}]}`
		token = "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
	)
	for name, c := range map[string]struct {
		kind    string
		answers map[string]string
		class   results.FailureClass // "": it becomes ready
		says    string
	}{
		"a list": {"external", map[string]string{
			"GET /v1/models":       list,
			"POST /v1/completions": token,
		}, "", ""},
		"no list": {"external", map[string]string{"POST /v1/completions": token}, "", ""},
		"an empty list": {"external", map[string]string{
			"GET /v1/models":       `{"data":[]}`,
			"POST /v1/completions": token,
		}, "", ""},
		"an empty list of vLLM": {"vllm", map[string]string{
			"GET /v1/models":       `{"object":"list","data":[]}`,
			"POST /v1/completions": token,
		}, "", ""},
		"a list that is not JSON": {"external", map[string]string{
			"GET /v1/models":       "<html>",
			"POST /v1/completions": token,
		}, "", ""},
		"a list that breaks": {"external", map[string]string{
			"GET /v1/models":       "500 no cache",
			"POST /v1/completions": token,
		}, "", ""},
		"a gateway without a list": {"external", map[string]string{
			"GET /v1/models":       "400 no such route",
			"POST /v1/completions": token,
		}, "", ""},
		"a gateway's refusal": {
			"external", map[string]string{
				"GET /v1/models":       list,
				"POST /v1/completions": `400 {"error":"tenant is missing"}`,
			}, results.FailHTTP, "tenant is missing",
		},
		"a gateway's key": {
			"external", map[string]string{"GET /v1/models": `401 {"error":"no key"}`}, results.FailAuth, "no key",
		},
		"not that kind of server": {
			"vllm",
			map[string]string{"POST /v1/completions": token},
			results.FailProtocol,
			"not a vllm server",
		},
		"Ollama's own API": {
			"external", map[string]string{"POST /api/generate": `{"model":"m","response":"a","done":false}`}, "", "",
		},
		"a gateway that wants the newer field": {
			"external",
			map[string]string{
				"GET /v1/models":            list,
				"POST /v1/chat/completions": token,
				"POST /v1/completions":      "404 This is a chat model",
				"max_tokens": `400 {"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this ` +
					`model. Use 'max_completion_tokens' instead."}}`,
			},
			"", "",
		},
		"a gateway that only chats": {
			"external",
			map[string]string{
				"GET /v1/models":            list,
				"POST /v1/chat/completions": token,
				"POST /v1/completions":      "400 not supported: use v1/chat/completions",
			},
			"", "",
		},
		"vLLM of embeddings": {
			"vllm",
			map[string]string{
				"GET /v1/models":            list,
				"POST /v1/completions":      `404 {"detail":"Not Found"}`,
				"POST /v1/chat/completions": `404 {"detail":"Not Found"}`,
			},
			results.FailHTTP, "a server of embeddings needs load: {endpoint: embeddings}",
		},
		"llama-server of embeddings": {
			"llamacpp",
			map[string]string{
				"GET /v1/models":       list,
				"POST /v1/completions": `501 {"error":{"code":501,"message":"This server does not support completions."}}`,
			},
			results.FailHTTP, "does not support completions",
		},
		"a router cannot load its model": {
			"llamacpp",
			map[string]string{
				"GET /v1/models": `{"data":[{"id":"m","status":{"value":"unloaded"}}]}`,
				"POST /v1/completions": `500 {"error":{"code":500,"message":"model name=m failed to load",` +
					`"type":"server_error"}}`,
			},
			results.FailHTTP, "model name=m failed to load",
		},
		"Ollama cannot load its model": {
			"ollama",
			map[string]string{
				"GET /v1/models":       `{"data":[{"id":"m:latest"}]}`,
				"POST /v1/completions": `500 {"error":"llama runner process has terminated"}`,
			},
			results.FailHTTP, "llama runner process has terminated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, _ := engines.Lookup(c.kind)
			failure, asked := climb(t, kind, recipe.Spec{Model: "m", Headers: map[string]string{"X-Tenant": "blue"}},
				c.answers)
			switch {
			case c.class == "" && failure != nil:
				t.Errorf("Climb() = %v, want ready", failure)
			case c.class != "" && (failure == nil || failure.Class != c.class ||
				!strings.Contains(failure.Message, c.says)):
				t.Errorf("Climb() = %v, want %s with %q", failure, c.class, c.says)
			}
			for _, request := range asked {
				if !strings.Contains(request, " blue ") {
					t.Errorf("%s: without the scenario's header", request)
				}
			}
		})
	}
}

// A server that counts tokens is found out where its kind does not say so.
func TestFindTokenizer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`{"tokens":[1,2]}`: true, `{"tokens":[]}`: false, "404": false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !json.Valid([]byte(text)) || text == "404" {
				http.NotFound(w, nil)
				return
			}
			_, _ = io.WriteString(w, text)
		}))
		defer s.Close()
		kind, _ := engines.Lookup("external")
		e := endpoint.New(kind, recipe.Spec{BaseURL: s.URL, Model: "m"})
		if got := e.FindTokenizer(t.Context()); got != want {
			t.Errorf("FindTokenizer() of %s = %v, want %v", text, got, want)
		}
		if _, err := e.Tokenize(t.Context(), "Hello", false); (err == nil) != want {
			t.Errorf("Tokenize() of %s = %v", text, err)
		}
	}
}

// A server that transcribes is asked to do so, by a form.
func TestAnswerToAudio(t *testing.T) {
	t.Parallel()
	kind, _ := engines.Lookup("external")
	for name, c := range map[string]struct {
		status int
		want   string
	}{
		"it does":  {http.StatusOK, ""},
		"it can't": {http.StatusNotFound, "is it a model that transcribes audio?"},
	} {
		var form string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/models" {
				_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
				return
			}
			file, head, err := r.FormFile("file")
			if err != nil {
				t.Error(err)
				return
			}
			data, _ := io.ReadAll(file)
			form = strings.Join([]string{
				head.Filename, string(data), r.FormValue("model"), r.FormValue("response_format"),
			}, " ")
			w.WriteHeader(c.status)
		}))
		spec := recipe.Spec{BaseURL: s.URL, Ready: recipe.Ready{Timeout: 20 * time.Second}}
		e := endpoint.New(kind, spec)
		answer := Answer(e, recipe.Smoke{
			Path: "/v1/audio/transcriptions", Body: map[string]any{"response_format": "json"}, WAV: []byte("RIFF"),
		})
		failure := NewProgress(spec.Ready, time.Now(), nil).Run(t.Context(), []Stage{Model(e, kind), answer})
		s.Close()
		if form != "audio.wav RIFF m json" {
			t.Errorf("%s: the form is %q", name, form)
		}
		if (failure == nil) != (c.want == "") || failure != nil && !strings.Contains(failure.Message, c.want) {
			t.Errorf("%s: %v, want %q", name, failure, c.want)
		}
	}
}
