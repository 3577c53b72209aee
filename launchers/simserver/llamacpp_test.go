package simserver

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func llama(t *testing.T, cfg simengine.Config) *live {
	t.Helper()
	cfg.Persona = simengine.PersonaLlamaCpp
	l := launch(t, cfg)
	eventually(t, "ready", func() bool { return l.get(t, "/health").status == 200 })
	return l
}

func TestLlamaLoading(t *testing.T) {
	t.Parallel()
	cfg := withFaults(t, fast(), "slow-start@200ms")
	cfg.Persona = simengine.PersonaLlamaCpp
	l := launch(t, cfg)
	for _, path := range []string{"/health", "/v1/models", "/metrics"} {
		if r := l.get(t, path); r.status != 503 || !strings.Contains(r.body, `"message":"Loading model"`) ||
			!strings.Contains(r.body, "unavailable_error") {
			t.Errorf("GET %s while loading = %d %s, want 503 Loading model", path, r.status, r.body)
		}
	}
	eventually(t, "ready", func() bool { return l.get(t, "/health").body == `{"status":"ok"}` })
	if !strings.Contains(l.log.String(), "listening on "+l.url) || strings.Contains(l.log.String(), "INFO") {
		t.Errorf("log is not llama-server's:\n%s", l.log)
	}
}

func TestLlamaStreams(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.Speculation = simengine.Speculation{Model: "Llama-1B", Tokens: 4, Acceptance: []float64{0.9}}
	l := llama(t, cfg)
	list, done := chunks(t, l.post(t, "/v1/completions",
		`{"model":"whatever","prompt":"hello","n_predict":10,"ignore_eos":true,"stream":true}`).body)
	if !done || len(list) != 11 {
		t.Fatalf("completion has %d chunks, done %v, want 10 of a token each and a finish chunk", len(list), done)
	}
	last := list[10]
	if last.Usage == nil || last.Usage.CompletionTokens != 10 || last.Timings == nil || last.Timings.PredictedN != 10 ||
		last.Choices[0].Text != "" || *last.Choices[0].FinishReason != "length" {
		t.Errorf("finish chunk = %+v, want usage and timings of 10 tokens", last)
	}
	chat := `{"messages":[{"role":"user","content":"hello"}],"max_tokens":4,"ignore_eos":true,"stream":true`
	list, done = chunks(t, l.post(t, "/v1/chat/completions", chat+`,"stream_options":{"include_usage":true}}`).body)
	if !done || len(list) != 7 {
		t.Fatalf("chat has %d chunks, done %v, want role, 4 tokens, finish, usage", len(list), done)
	}
	if d := list[0].Choices[0].Delta; d.Role == nil || d.Content != nil {
		t.Errorf("first delta = %+v, want a role with null content", d)
	}
	if len(list[6].Choices) != 0 || list[6].Usage == nil || list[5].Usage != nil {
		t.Errorf("last chunks = %+v, want usage in the one without choices", list[5:])
	}
	list, _ = chunks(t, l.post(t, "/v1/chat/completions", chat+`}`).body)
	if last := list[len(list)-1]; last.Usage != nil || last.Timings == nil {
		t.Errorf("last chunk without options = %+v, want timings and no usage", last)
	}
}

func TestLlamaEndpoints(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.MaxNumSeqs, cfg.APIKey = 2, "k"
	l := llama(t, cfg)
	get := func(path string) reply { return l.do(t, "GET", path, "", "Authorization", "Bearer k") }
	for _, c := range []struct{ path, want string }{
		{"/props", `"total_slots":2`},
		{"/props", `"n_ctx":4096`},
		{"/slots", `"id":1`},
		{"/v1/models", Owner},
		{"/metrics", "llamacpp:tokens_predicted_total 0"},
	} {
		if r := get(c.path); r.status != 200 || !strings.Contains(r.body, c.want) {
			t.Errorf("GET %s = %d %s, want 200 with %q", c.path, r.status, r.body, c.want)
		}
	}
	if r := l.get(t, "/props"); r.status != 401 || !strings.Contains(r.body, "authentication_error") {
		t.Errorf("GET /props without key = %d %s, want 401", r.status, r.body)
	}
	if r := get("/version"); r.status != 404 || !strings.Contains(r.body, "not_found_error") {
		t.Errorf("GET /version = %d %s, want 404", r.status, r.body)
	}
	long := `{"prompt":"` + strings.Repeat("word ", 5000) + `"}`
	r := l.do(t, "POST", "/v1/completions", long, "Authorization", "Bearer k")
	if r.status != 400 || !strings.Contains(r.body, "exceeds the available context size (4096 tokens)") {
		t.Errorf("long prompt = %d %s, want 400 exceed_context_size_error", r.status, r.body)
	}
	ids := decode[struct{ Tokens []int32 }](t, l.do(t, "POST", "/tokenize", `{"content":"one two"}`,
		"Authorization", "Bearer k"))
	if len(ids.Tokens) != 2 {
		t.Errorf("tokens of \"one two\" = %v, want 2", ids.Tokens)
	}
}

// A request beyond the slots waits, and the answer's cache figures add up.
func TestLlamaCachePrompt(t *testing.T) {
	t.Parallel()
	l := llama(t, fast())
	body := `{"prompt":"` + strings.Repeat("again ", 100) + `","max_tokens":1`
	type whole struct{ Timings timings }
	l.post(t, "/v1/completions", body+"}")
	warm := decode[whole](t, l.post(t, "/v1/completions", body+"}")).Timings
	cold := decode[whole](t, l.post(t, "/v1/completions", body+`,"cache_prompt":false}`)).Timings
	if warm.CacheN != 96 || warm.PromptN != 6 || cold.CacheN != 0 || cold.PromptN != 102 {
		t.Errorf("warm %+v, cold %+v, want 96+6 and 0+102 prompt tokens", warm, cold)
	}
}

func TestLlamaSlotsQueue(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.MaxNumSeqs, cfg.Speed = 1, 1
	l := llama(t, cfg)
	go l.slowPost(t, 2*time.Second)
	go l.slowPost(t, 2*time.Second)
	eventually(t, "one runs and one waits", func() bool {
		text := l.get(t, "/metrics").body
		return metric(t, text, "llamacpp:requests_processing") == 1 && metric(t, text,
			"llamacpp:requests_deferred") == 1
	})
	if r := l.get(t, "/slots?fail_on_no_slot=1"); r.status != 503 && metric(t, l.get(t, "/metrics").body,
		"llamacpp:requests_processing") == 1 {
		t.Errorf("GET /slots?fail_on_no_slot=1 = %d, want 503 with all slots busy", r.status)
	}
	eventually(t, "both are done", func() bool {
		return metric(t, l.get(t, "/metrics").body, "llamacpp:tokens_predicted_total") == 40
	})
}
