package simengine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Speculation configures speculative decoding. Zero Tokens: none.
type Speculation struct {
	Model  string // draft model; "" with method ngram
	Method string // "", "draft_model", "ngram", "eagle", ...
	Tokens int    // drafted a step
	// Acceptance at position i is the probability that the draft token there is
	// accepted, given that all before it were. A shorter list repeats its last
	// value; nil: by the sizes of draft and target.
	Acceptance []float64
	BeforeV1   bool // log lines and counters of vLLM before V1
	DraftTP    int  // tensor-parallel size of the draft; 0: the target's
}

const ngramMethod = "ngram"

// ParseSpeculativeConfig reads the JSON of --speculative-config.
func ParseSpeculativeConfig(text string) (Speculation, error) {
	var c struct {
		Model   string `json:"model"`
		Method  string `json:"method"`
		Tokens  int    `json:"num_speculative_tokens"`
		DraftTP int    `json:"draft_tensor_parallel_size"`
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return Speculation{}, fmt.Errorf("parse speculative config %q: %w", text, err)
	}
	if c.Model == "" && c.Method == "" {
		return Speculation{}, fmt.Errorf("parse speculative config %q: neither model nor method is given", text)
	}
	return Speculation{Model: c.Model, Method: c.Method, Tokens: c.Tokens, DraftTP: c.DraftTP}, nil
}

// Check validates the settings. It also turns the model name "[ngram]" into the method ngram.
func (s *Speculation) Check() error {
	if s.Model == "[ngram]" {
		s.Model, s.Method = "", ngramMethod
	}
	if s.Tokens < 0 || s.Tokens > 64 {
		return fmt.Errorf("check --num-speculative-tokens: %d is not between 0 and 64", s.Tokens)
	}

	configured := s.Model != "" || s.Method != ""
	if configured && s.Tokens == 0 {
		return fmt.Errorf("check speculation: a draft is set, so --num-speculative-tokens must be given")
	}
	if !configured && s.Tokens > 0 {
		return fmt.Errorf("check speculation: --num-speculative-tokens %d needs --speculative-model or "+
			"--speculative-config", s.Tokens)
	}

	for _, a := range s.Acceptance {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("check --sim-acceptance: %v is not in [0, 1]", a)
		}
	}

	return nil
}

// Rates returns one acceptance a position.
func (s Speculation) Rates(draft, target model) []float64 {
	given := s.Acceptance
	if len(given) == 0 {
		given = []float64{defaultAcceptance(s, draft, target)}
	}
	rates := make([]float64, s.Tokens)
	for i := range rates {
		rates[i] = given[min(i, len(given)-1)]
	}
	return rates
}

// defaultAcceptance: a draft of a tenth of its target is seen to agree more
// often than one of a fiftieth; a lookup in the prompt agrees seldom.
func defaultAcceptance(s Speculation, draft, target model) float64 {
	switch {
	case s.Method == ngramMethod:
		return 0.35
	case draft.Billions == 0:
		return 0.75
	case draft.Billions >= target.Billions/12:
		return 0.87
	}
	return 0.8
}

// accept draws how many of k drafted tokens the target keeps: those before the
// first that it rejects.
func accept(r *rand.Rand, rates []float64, k int) int {
	for i := range k {
		if r.Float64() >= rates[i] {
			return i
		}
	}
	return k
}

// acceptAll draws as vLLM before V1 counts: agreed are all drafted tokens that
// the target agrees with, those behind a rejected one included, which are not
// kept.
func acceptAll(r *rand.Rand, rates []float64, k int) (kept, agreed int) {
	kept = k
	for i := range k {
		switch {
		case r.Float64() < rates[i]:
			agreed++
		case kept == k:
			kept = i
		}
	}
	return kept, agreed
}
