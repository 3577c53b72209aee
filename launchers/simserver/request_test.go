package simserver

import (
	"testing"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func testParser(llamaCpp bool) *parser {
	return &parser{
		tok: simengine.NewTokenizer(), llamaCpp: llamaCpp, blind: llamaCpp, model: []string{"m"},
		maxLen: 512, vocab: 1000,
	}
}

func FuzzParseRequest(f *testing.F) {
	s := &server{}
	fuzzed := []api{s.openAI(false), s.openAI(true), s.responsesAPI(), s.messagesAPI()}
	for _, s := range []string{
		`{"input":"hello","max_output_tokens":3}`, `{"input":[{"role":"user","content":[{"type":"input_text"}]}]}`,
		`{"system":"x","messages":[{"role":"user","content":[{"type":"image","source":{}}]}],"max_tokens":3}`,
		`{"prompt":"hello","max_tokens":5}`, `{"prompt":[1,2,3]}`, `{"prompt":[[1]],"n":1}`,
		`{"prompt":["a"],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":3,"min_tokens":9}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"prompt":null}`, `{"prompt":[]}`, `{"prompt":[1.5]}`, `{"prompt":[[],[]]}`, `[]`, `nul`,
		`{"prompt":"x","max_tokens":-1,"n_predict":-1}`, `{"prompt":"","seed":-9}`,
	} {
		for i := range fuzzed {
			f.Add([]byte(s), byte(i))
		}
	}
	parsers := []*parser{testParser(false), testParser(true)}
	f.Fuzz(func(t *testing.T, body []byte, pick byte) {
		which := int(pick) % len(fuzzed)
		for _, p := range parsers {
			g, err := p.parse(body, fuzzed[which])
			if err != nil {
				if err.status < 400 || err.message == "" || err.kind == "" {
					t.Errorf("parse(%q) = %+v, want a status, a kind and a message", body, err)
				}
				continue
			}
			if len(g.prompt) == 0 || g.limit < 1 || len(g.prompt)+g.limit > p.maxLen || g.least > g.limit {
				t.Errorf("parse(%q) = %d prompt tokens, limit %d, least %d; want all within %d", body, len(g.prompt),
					g.limit, g.least, p.maxLen)
			}
			if n, _ := simengine.AnswerLength(1, g.limit, g.least, g.ignoreEOS); n < 1 || n > g.limit || n < g.least {
				t.Errorf("answerLength of %q = %d, want within %d and %d", body, n, g.least, g.limit)
			}
			for _, id := range g.prompt {
				if id < 0 || id >= simengine.TokenizerSize {
					t.Errorf("parse(%q) has token %d", body, id)
				}
			}
		}
	})
}

func FuzzSpeculativeConfig(f *testing.F) {
	f.Add(`{"model":"m","num_speculative_tokens":3}`)
	f.Add(`{"method":"ngram"}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := simengine.ParseSpeculativeConfig(text)
		if err != nil || s.Check() != nil {
			return
		}
		rates := s.Rates(simengine.Models()[0], simengine.Models()[3])
		if len(rates) != s.Tokens {
			t.Errorf("rates of %q = %v, want %d", text, rates, s.Tokens)
		}
	})
}

// TestAdaptersAndPriorities: an adapter is a model of its own, another name is
// refused, and a priority needs the policy.
func TestAdaptersAndPriorities(t *testing.T) {
	s := &server{}
	p := testParser(false)
	p.model, p.adapters = []string{"m", "law"}, []string{"law"}
	for _, tt := range []struct {
		body       string
		priorities bool
		adapter    string
		status     int
	}{
		{`{"model":"m","prompt":"x"}`, false, "", 0},
		{`{"model":"law","prompt":"x"}`, false, "law", 0},
		{`{"model":"other","prompt":"x"}`, false, "", 404},
		{`{"model":"m","prompt":"x","priority":3}`, false, "", 400},
		{`{"model":"m","prompt":"x","priority":3}`, true, "", 0},
	} {
		p.priorities = tt.priorities
		g, err := p.parse([]byte(tt.body), s.openAI(false))
		status := 0
		if err != nil {
			status = err.status
		}
		if g.adapter != tt.adapter && err == nil || status != tt.status {
			t.Errorf("%s with priorities %v: adapter %q, status %d, want %q, %d", tt.body, tt.priorities, g.adapter,
				status, tt.adapter, tt.status)
		}
	}
}
