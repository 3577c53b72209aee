package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

// Each server names the text differently; all take the ids as tokens.
func TestDetokenize(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"prompt":"as vLLM"}`: "as vLLM",
		`{"content":"llama"}`:  "llama",
		`{"text":""}`:          "",
	} {
		remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct {
				Tokens []int `json:"tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Tokens) != 2 ||
				r.URL.Path != "/base/detokenize" {
				t.Errorf("%s was asked for %v, %v", r.URL.Path, asked.Tokens, err)
			}
			fmt.Fprint(w, answer)
		}))
		kind := engines.Kind{Name: "command", API: engines.API{TokenizePath: "/base/tokenize"}}
		server := New(kind, recipe.Spec{BaseURL: remote.URL})
		if got, err := server.Detokenize(t.Context(), []int{5, 6}); err != nil || got != want {
			t.Errorf("Detokenize() of %s = %q, %v, want %q", answer, got, err, want)
		}
		remote.Close()
	}
}

func TestDetokenizeErrors(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{"tokens":[]}`, `[]`, `hello`} {
		remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, answer)
		}))
		kind := engines.Kind{Name: "command", API: engines.API{TokenizePath: "/tokenize"}}
		server := New(kind, recipe.Spec{BaseURL: remote.URL})
		if got, err := server.Detokenize(t.Context(), nil); err == nil {
			t.Errorf("Detokenize() of %s = %q, want an error", answer, got)
		}
		remote.Close()
	}
	if _, err := New(engines.Kind{Name: "ollama"}, recipe.Spec{BaseURL: "http://127.0.0.1:1"}).Detokenize(t.Context(),
		nil); err == nil {
		t.Error("Detokenize() without an endpoint = nil error")
	}
}

// Special tokens are asked for under each server's own name.
func TestTokenizeSpecial(t *testing.T) {
	t.Parallel()
	for name, field := range map[string]string{"vllm": "add_special_tokens", "llamacpp": "add_special"} {
		remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked map[string]any
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			if asked[field] == true {
				fmt.Fprint(w, `{"tokens":[1,7]}`)
			} else {
				fmt.Fprint(w, `{"tokens":[7]}`)
			}
		}))
		kind, _ := engines.Lookup(name)
		server := New(kind, recipe.Spec{BaseURL: remote.URL})
		for special, want := range map[bool]int{true: 2, false: 1} {
			if ids, err := server.Tokenize(t.Context(), "x", special); err != nil || len(ids) != want {
				t.Errorf("%s: Tokenize(special %t) = %v, %v, want %d ids", name, special, ids, err, want)
			}
		}
		remote.Close()
	}
}
