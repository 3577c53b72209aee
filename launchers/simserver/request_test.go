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
	for _, s := range []string{
		`{"prompt":"hello","max_tokens":5}`, `{"prompt":[1,2,3]}`, `{"prompt":[[1]],"n":1}`,
		`{"prompt":["a"],"stream":true,"stream_options":{"include_usage":true}}`,
		`{"messages":[{"role":"user","content":"x"}],"max_completion_tokens":3,"min_tokens":9}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
		`{"prompt":null}`, `{"prompt":[]}`, `{"prompt":[1.5]}`, `{"prompt":[[],[]]}`, `[]`, `nul`,
		`{"prompt":"x","max_tokens":-1,"n_predict":-1}`, `{"prompt":"","seed":-9}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	parsers := []*parser{testParser(false), testParser(true)}
	f.Fuzz(func(t *testing.T, body []byte, chat bool) {
		for _, p := range parsers {
			g, err := p.parse(body, chat)
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
