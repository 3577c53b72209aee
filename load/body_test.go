package load

import (
	"math"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

func TestBodies(t *testing.T) {
	zero := 0.0
	tests := []struct {
		name  string
		o     Options
		p     dialect.Prompt
		want  string
		asked int
	}{
		{
			"completions",
			Options{Target: Target{API: "completions", Model: "m"}},
			dialect.Prompt{Text: "a <b> \"é\n", OutputTokens: 7},
			`{"model":"m","prompt":"a <b> \"é\n","max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`,
			7,
		},
		{
			"token ids and all options",
			Options{Target: Target{API: "completions", Model: "m"}, Settings: spec.Settings{
				IgnoreEOS: true,
				Sampling:  spec.Sampling{Temperature: &zero},
			}},
			dialect.Prompt{TokenIDs: []int{1, 5}, OutputTokens: 7},
			`{"model":"m","prompt":[1,5],"max_tokens":7,"stream":true,"stream_options":{"include_usage":true},"temperature":0,"ignore_eos":true}`, 7,
		},
		{
			"no limit",
			Options{Target: Target{API: "completions", Model: "m"}},
			dialect.Prompt{Text: "a"},
			`{"model":"m","prompt":"a","stream":true,"stream_options":{"include_usage":true}}`, 0,
		},
		{
			"chat",
			Options{Target: Target{API: "chat", Model: "m"}},
			dialect.Prompt{Text: "a", OutputTokens: 7},
			`{"model":"m","messages":[{"role":"user","content":"a"}],"max_completion_tokens":7,"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`, 7,
		},
		{
			"chat for older servers",
			Options{Target: Target{API: "chat", Model: "m"}, Settings: spec.Settings{MaxTokensField: "max_tokens"}},
			dialect.Prompt{Text: "a", OutputTokens: 7},
			`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`, 7,
		},
		{
			"body merged last",
			Options{
				Target: Target{API: "completions", Model: "m"},
				Settings: spec.Settings{Body: map[string]any{
					"z": nil, "model": "other", "cache_prompt": false,
					"max_tokens": 3,
				}},
			},
			dialect.Prompt{Text: "a", OutputTokens: 7},
			`{"model":"other","prompt":"a","max_tokens":3,"stream":true,"stream_options":{"include_usage":true},"cache_prompt":false,"z":null}`, 3,
		},
	}
	for _, tt := range tests {
		api, err := dialect.APINamed(tt.o.Target.API)
		if err != nil {
			t.Fatal(err)
		}
		got, err := api.Encode(tt.o.common(), dialect.Ask{Prompt: tt.p})
		if err != nil || string(got.Body) != tt.want || got.Asked != tt.asked {
			t.Errorf("%s: encode = %s, asked %d, %v\nwant %s, asked %d", tt.name, got.Body, got.Asked, err,
				tt.want, tt.asked)
		}
	}
}

func TestExampleBody(t *testing.T) {
	o := Options{Target: Target{API: "completions", Model: "m"}}
	long := dialect.Prompt{Text: strings.Repeat("é", 100), OutputTokens: 1}
	got, err := ExampleBody(o, long)
	if err != nil || !strings.Contains(got, `"prompt":"`+strings.Repeat("é", 60)+`..."`) {
		t.Errorf("ExampleBody = %s, %v", got, err)
	}
	ids := dialect.Prompt{TokenIDs: make([]int, 100)}
	if got, err = ExampleBody(o, ids); err != nil || !strings.Contains(got, `"prompt":[0,0,0,0,0,0,0,0]`) ||
		len(ids.TokenIDs) != 100 {
		t.Errorf("ExampleBody = %s, %v", got, err)
	}
	if _, err = ExampleBody(Options{}, long); err == nil {
		t.Error("ExampleBody without API gave no error")
	}
}

// TestRunRefuses: what is wrong with the options is said before anything is
// sent.
func TestRunRefuses(t *testing.T) {
	s := newRawServer(t, say(""))
	good := func() Options { return options(s.url, "completions") }
	tests := []struct {
		name  string
		edit  func(o *Options)
		p     dialect.Prompt
		words string
	}{
		{
			"unknown API", func(o *Options) { o.Target.API = "prose" },
			dialect.Prompt{Text: "a"},
			`choose API: got "prose"`,
		},
		{"no base URL", func(o *Options) { o.Target.BaseURLs = nil }, dialect.Prompt{Text: "a"}, "no base URL"},
		{"bad URL", func(o *Options) { o.Target.BaseURLs = []string{"http://a b"} }, dialect.Prompt{Text: "a"}, "a b"},
		{
			"URL without scheme", func(o *Options) { o.Target.BaseURLs = []string{"localhost:8000"} },
			dialect.Prompt{Text: "a"},
			"want http://HOST:PORT",
		},
		{
			"arrivals too short", func(o *Options) { o.Arrivals = []float64{} },
			dialect.Prompt{Text: "a"},
			"0 times for 1 prompts",
		},
		{
			"arrivals not a number", func(o *Options) { o.Arrivals = []float64{math.NaN()} },
			dialect.Prompt{Text: "a"},
			"time 0 is NaN",
		},
		{
			"arrivals negative", func(o *Options) { o.Arrivals = []float64{-1} },
			dialect.Prompt{Text: "a"},
			"time 0 is -1",
		},
		{
			"arrivals infinite", func(o *Options) { o.Arrivals = []float64{math.Inf(1)} },
			dialect.Prompt{Text: "a"},
			"time 0 is +Inf",
		},
		{"no prompt", func(*Options) {}, dialect.Prompt{}, "prompt 0: encode prompt: want either"},
		{"two prompts", func(*Options) {}, dialect.Prompt{Text: "a", TokenIDs: []int{1}}, "want either"},
		{
			"ids for chat", func(o *Options) { o.Target.API = "chat" },
			dialect.Prompt{TokenIDs: []int{1}},
			"use the completions API",
		},
		{
			"body that is not JSON", func(o *Options) { o.Body = map[string]any{"x": func() {}} },
			dialect.Prompt{Text: "a"},
			`encode request field "x"`,
		},
	}
	for _, tt := range tests {
		o := good()
		tt.edit(&o)
		_, err := Run(t.Context(), o, []dialect.Prompt{tt.p}, func(results.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: Run error = %v, want one with %q", tt.name, err, tt.words)
		}
	}
	if n := s.requests(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestTargetURLs(t *testing.T) {
	tests := []struct{ base, path, api, want string }{
		{"http://h:1", "/v1/completions", "", "http://h:1/v1/completions"},
		{"http://h:1/", "v1/completions", "", "http://h:1/v1/completions"},
		{"http://h:1/v1", "/v1/completions", "", "http://h:1/v1/completions"},
		{"http://h:1/v1/", "/v1/completions", "", "http://h:1/v1/completions"},
		{"http://h:1/v1", "/completions", "completions", "http://h:1/v1/completions"},
		{"http://h:1/v1/completions", "/v1/completions", "", "http://h:1/v1/completions"},
		{"https://h/api/llm", "/v1/completions", "", "https://h/api/llm/v1/completions"},
		{"https://h/api/llm/v1", "/v1/chat/completions", "", "https://h/api/llm/v1/chat/completions"},
		{"https://h/a%2Fb/v1", "/v1/completions", "", "https://h/a%2Fb/v1/completions"},
		{"https://h/v1beta/openai/", "/v1/completions", "", "https://h/v1beta/openai/v1/completions"},
		{
			"https://h/deployments/m?api-version=1", "/completions", "",
			"https://h/deployments/m/completions?api-version=1",
		},
		{"https://h/v1?a=1", "/v1/completions?b=2", "", "https://h/v1/completions?a=1&b=2"},
		{"http://h#part", "/v1/completions", "", "http://h/v1/completions"},
		{"http://h/xv1", "/v1/completions", "", "http://h/xv1/v1/completions"},
		{"http://[::1]:8000/v1", "/v1/completions", "", "http://[::1]:8000/v1/completions"},
		{"http://h", "/generate", "", "http://h/generate"},
		{"http://h/v1", "/generate", "sglang", "http://h/generate"},
		{"http://h/proxy/v1/", "/api/generate", "ollama", "http://h/proxy/api/generate"},
		{"http://h/api", "/api/chat", "ollama-chat", "http://h/api/chat"},
		{"http://h/v1", "/mine", "sglang", "http://h/v1/mine"},
	}
	for _, tt := range tests {
		got, err := targetURLs(Target{BaseURLs: []string{tt.base}, Path: tt.path, API: tt.api})
		if err != nil || got[0].String() != tt.want {
			t.Errorf("targetURLs(%q, %q, %s) = %v, %v, want %s", tt.base, tt.path, tt.api, got, err, tt.want)
		}
	}
	for _, base := range []string{"", "localhost:8000", "ftp://h", "http://", "http://a b", "unix:///run/s.sock"} {
		if got, err := targetURLs(Target{BaseURLs: []string{base}, Path: "/v1/completions"}); err == nil {
			t.Errorf("targetURLs(%q) = %v, want an error", base, got)
		}
	}
}

// TestRequestOnTheWire: what the server gets.
func TestRequestOnTheWire(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	s := newRawServer(t, say(stream("data: "+loadtest.Token+"\n\ndata: [DONE]\n\n")))
	o := options(s.url, "completions")
	o.Target.Headers = map[string]string{"authorization": "Bearer k", "Host": "elsewhere", "Idempotency-Key": "x"}
	o.RequestID = func(i int) string { return "mine-" + string(rune('0'+i)) }
	r := one(t, o)
	if r.Failure != nil || r.RequestID != "mine-0" || *r.LocalInputTokens != 1 || r.AskedOutputTokens != 8 {
		t.Fatalf("record %+v", r)
	}
	s.mu.Lock() // our reads of the socket are not synchronization in the race detector's eyes
	h := s.hdr[0]
	s.mu.Unlock()
	for name, want := range map[string]string{
		"Authorization": "Bearer k", "Content-Type": "application/json", "X-Request-Id": "mine-0",
		"Accept-Encoding": "", "User-Agent": "bench", "Accept": "*/*",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("header %s = %q, want %q", name, got, want)
		}
	}
	o.RequestID, o.RequestIDPrefix = nil, "night-"
	r = one(t, o)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.hdr[1].Get("X-Request-Id"); r.RequestID != "night-0" || got != "night-0" {
		t.Errorf("request id %q in the record, %q on the wire, want night-0", r.RequestID, got)
	}
}
