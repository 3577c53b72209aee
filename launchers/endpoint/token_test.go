package endpoint

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

func TestReadToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stream string
		want         bool
		err          string
	}{
		{
			"completion", `data: {"choices":[{"text":"initial","index":0,"logprobs":null,"finish_reason":null}]}`, true,
			"",
		},
		{"no space after data:", `data:{"choices":[{"text":"a"}]}`, true, ""},
		{"comments and CRLF", ": ping\r\n\r\ndata: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\n", true, ""},
		{
			"chat: role first",
			"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\" v\"}}]}", true, "",
		},
		{"role only", `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}`, false, ""},
		{"reasoning", `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}`, true, ""},
		{"special token without text", `data: {"choices":[{"text":"","finish_reason":"length"}]}`, true, ""},
		{
			"finished without a token",
			`data: {"choices":[{"text":"","finish_reason":"stop"}],"usage":{"completion_tokens":0}}`, false, "",
		},
		{"usage alone", `data: {"choices":[],"usage":{"completion_tokens":1}}`, true, ""},
		{"zeros before the end (ollama)", `data: {"choices":[{"text":""}],"usage":{"completion_tokens":0}}`, false, ""},
		{"not streamed", `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`, true, ""},
		{"llama-server's own dialect", `data: {"content":" x","stop":false}`, true, ""},
		{"error in the stream", `data: {"error":{"code":500,"message":"does not match"}}`, false, "does not match"},
		{"error as text", `data: {"error":"boom"}`, false, "boom"},
		{"error: null", `data: {"error":null,"choices":[{"text":"a"}]}`, true, ""},
		{"nothing but the end", "data: [DONE]\n\n", false, ""},
		{"empty", "", false, ""},
		{"page", "<html>hello</html>", false, ""},
	} {
		got, err := readToken(strings.NewReader(c.stream))
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: readToken(%q) = %v, %v, want %v, error %q", c.name, c.stream, got, err, c.want, c.err)
		}
	}
}

func FuzzReadToken(f *testing.F) {
	f.Add("data: {\"choices\":[{\"text\":\"a\"}]}\n\n")
	f.Add("data: {\"error\":1}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		came, err := readToken(strings.NewReader(stream))
		if came && err != nil {
			t.Errorf("readToken(%q) = true with error %v", stream, err)
		}
		if came && !strings.Contains(stream, "{") {
			t.Errorf("readToken(%q) = true without any object", stream)
		}
	})
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       []int
		ok         bool
	}{
		{"ids", `{"tokens":[1,15043]}`, []int{1, 15043}, true},
		{"vllm", `{"count":2,"max_model_len":10,"tokens":[1,2]}`, []int{1, 2}, true},
		{"pieces", `{"tokens":[{"id":15043,"piece":" Hello"}]}`, []int{15043}, true},
		{"tgi", `[{"id":5,"text":"a","start":0,"stop":1}]`, []int{5}, true},
		{"none", `{"tokens":[]}`, []int{}, true},
		{"missing", `{"error":"x"}`, nil, false},
		{"null", `{"tokens":null}`, nil, false},
		{"text", `{"tokens":["a"]}`, nil, false},
		{"no JSON", `404 page not found`, nil, false},
	} {
		got, ok := parseTokens([]byte(c.body))
		if ok != c.ok || ok && !cmp.Equal(got, c.want) {
			t.Errorf("%s: parseTokens(%q) = %v, %v, want %v, %v", c.name, c.body, got, ok, c.want, c.ok)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte(`{"tokens":[1]}`))
	f.Add([]byte(`[{"id":1}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if ids, ok := parseTokens(body); !ok && ids != nil {
			t.Errorf("parseTokens(%q) = %v, false", body, ids)
		}
	})
}

func TestJoinable(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://h:1":          "http://h:1",
		"http://h:1/":         "http://h:1",
		"http://h:1/v1":       "http://h:1",
		"http://h:1/v1/":      "http://h:1",
		"http://h/prefix/v1/": "http://h/prefix",
		"http://h/prefix":     "http://h/prefix",
	} {
		if got := joinable(base); got != want {
			t.Errorf("joinable(%q) = %q, want %q", base, got, want)
		}
	}
}

func TestDialAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://h:1/x":   "h:1",
		"http://h":       "h:80",
		"https://h":      "h:443",
		"http://[::1]:5": "[::1]:5",
		"localhost:8000": "",
		"ftp://h":        "",
		"":               "",
	} {
		if got, err := dialAddress(base); got != want || (err == nil) != (want != "") {
			t.Errorf("dialAddress(%q) = %q, %v, want %q", base, got, err, want)
		}
	}
}

// llama-server takes vLLM's question and answers it with no tokens at all.
func TestTokenizeFindsTheDialect(t *testing.T) {
	t.Parallel()
	asked := 0
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		body := make([]byte, 1000)
		n, _ := r.Body.Read(body)
		if strings.Contains(string(body[:n]), `"content"`) {
			fmt.Fprint(w, `{"tokens":[15043,3186]}`)
		} else {
			fmt.Fprint(w, `{"tokens":[]}`)
		}
	}))
	defer remote.Close()
	kind := engines.Kind{Name: "command", API: engines.API{TokenizePath: "/tokenize"}}
	server := New(kind, recipe.Spec{BaseURL: remote.URL})
	for i, want := range []int{2, 3} { // the second time it is known
		ids, err := server.Tokenize(t.Context(), "Hello world", false)
		if err != nil || len(ids) != 2 {
			t.Errorf("Tokenize() = %v, %v, want 2 ids", ids, err)
		}
		if asked != want {
			t.Errorf("Tokenize() call %d: server was asked %d times, want %d", i, asked, want)
		}
	}
	if _, err := New(engines.Kind{Name: "ollama"}, recipe.Spec{BaseURL: remote.URL}).Tokenize(t.Context(), "x",
		false); err == nil {
		t.Error("Tokenize() without an endpoint = nil error")
	}
}
