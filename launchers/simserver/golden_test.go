package simserver

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/launchers/simserver/simengine"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), got, *update)
}

// The bytes on the wire, in each dialect.
func TestGoldenWire(t *testing.T) {
	t.Parallel()
	unstable := regexp.MustCompile(
		`"(created|created_at|prompt_ms|prompt_per_token_ms|prompt_per_second|predicted_ms|predicted_per_token_ms|predicted_per_second)":[0-9.e+-]+`)
	const completion = `{"prompt":"tell me a story","max_tokens":4,"seed":3`
	const chat = `{"messages":[{"role":"user","content":"tell me a story"}],"max_tokens":4,"seed":3`
	for _, persona := range []string{simengine.PersonaVLLM, simengine.PersonaLlamaCpp} {
		cfg := fast()
		cfg.Persona = persona
		l := launch(t, cfg)
		eventually(t, "ready", func() bool { return l.get(t, "/health").status == 200 })
		var b strings.Builder
		for _, c := range []struct{ path, body string }{
			{"/v1/completions", completion + `}`},
			{"/v1/completions", completion + `,"stream":true,"stream_options":{"include_usage":true}}`},
			{"/v1/chat/completions", chat + `}`},
			{"/v1/chat/completions", chat + `,"stream":true,"stream_options":{"include_usage":true}}`},
			{"/v1/responses", `{"input":"tell me a story","max_output_tokens":4,"seed":3}`},
			{"/v1/responses", `{"input":"tell me a story","max_output_tokens":4,"seed":3,"stream":true}`},
			{"/v1/messages", chat + `}`},
			{"/v1/messages", chat + `,"stream":true}`},
			{"/v1/messages", `{"messages":[{"role":"user","content":"a"}]}`},
			{"/v1/embeddings", `{"input":["tell me a story"],"model":"test/Llama-1B"}`},
			{"/v1/rerank", `{"query":"tell me","documents":["a story","another one"]}`},
			{"/score", `{"text_1":"tell me","text_2":["a story"]}`},
			{"/v1/embeddings", `{"query":"tell me"}`},
			{"/v1/completions", `{}`},
			{"/v1/completions", `{"model":"m","prompt":[` + strings.Repeat("1,", 4999) + `1]}`},
			{"/tokenize", `{"prompt":"tell me a story","content":"tell me a story"}`},
			{"/detokenize", `{"tokens":[1,300,301]}`},
		} {
			r := l.do(t, "POST", c.path, c.body, "X-Request-Id", "r1")
			body := unstable.ReplaceAllString(r.body, `"$1":0`)
			fmt.Fprintf(&b, "POST %s %.90s\n%d %s\n%s\n\n", c.path, c.body, r.status, r.header.Get("Content-Type"),
				strings.TrimRight(body, "\n"))
		}
		golden(t, "wire-"+persona+".golden", b.String())
	}
}

// The times of a noisy, speculating, preempting run by seed.
func TestGoldenTimes(t *testing.T) {
	t.Parallel()
	cfg := withDraft(llama70(8, 1), draft1B, 3)
	cfg.Noise, cfg.Seed, cfg.KVBlocks, cfg.MaxModelLen = 0.02, 7, 90, 1024
	tr := shareGPT(cfg, 8)
	_, all := tr.run(t)
	var b strings.Builder
	for i, s := range all {
		var counts []int
		for _, e := range s.Out.Take(nil) {
			counts = append(counts, e.N)
		}
		fmt.Fprintf(&b, "%2d in %3d out %3d first %9.3f ms last %10.3f ms chunks %d %v\n", i, len(s.Prompt), s.Output,
			s.First.Sub(epoch).Seconds()*1e3, s.Last.Sub(epoch).Seconds()*1e3, len(counts),
			counts[:min(len(counts), 8)])
	}
	golden(t, "times.golden", b.String())
}

// The names, types and labels of all metrics.
func TestGoldenMetrics(t *testing.T) {
	t.Parallel()
	for _, persona := range []string{simengine.PersonaVLLM, simengine.PersonaLlamaCpp} {
		cfg := fast()
		cfg.Persona = persona
		cfg.Speculation = simengine.Speculation{Model: "Llama-1B", Tokens: 2, Acceptance: []float64{1}}
		l := launch(t, cfg)
		eventually(t, "ready", func() bool { return l.get(t, "/health").status == 200 })
		golden(t, "metrics-"+persona+".golden", l.get(t, "/metrics").body)
	}
}
