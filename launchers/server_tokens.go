package launchers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/benchrig/bench/results"
)

// tokenizeDialect is how a server wants to be asked for tokens.
type tokenizeDialect int

const (
	dialectUnknown tokenizeDialect = iota
	dialectVLLM
	dialectLlama
	dialectTGI
)

// Tokenize returns the token ids of text as the server counts them. With
// special they include the tokens that it puts around a prompt, such as BOS.
// It is an error for a kind that has no such endpoint.
func (s *Server) Tokenize(ctx context.Context, text string, special bool) ([]int, error) {
	if s.kind.TokenizePath == "" {
		return nil, results.Failf(results.FailProtocol, "launcher %s has no tokenize endpoint", s.kind.Name)
	}
	var last answer
	for _, dialect := range s.dialects() {
		last = s.probe.post(ctx, s.kind.TokenizePath, s.tokenizeBody(dialect, text, special))
		if failure := last.final(); failure != nil {
			return nil, failure
		}
		ids, ok := parseTokens(last.body)
		// llama-server ignores vLLM's fields and tokenizes nothing.
		if !last.ok() || !ok || len(ids) == 0 && text != "" {
			continue
		}
		s.speaks(dialect)
		return ids, nil
	}
	if last.err != nil || last.status != http.StatusOK {
		return nil, last.failure()
	}
	return nil, unusable(last)
}

// dialects are those to try: the one that worked before, else all, the
// likeliest first.
func (s *Server) dialects() []tokenizeDialect {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.dialect != dialectUnknown:
		return []tokenizeDialect{s.dialect}
	case s.kind.Name == "llamacpp", s.spec.API == "llamacpp":
		return []tokenizeDialect{dialectLlama, dialectVLLM, dialectTGI}
	}
	return []tokenizeDialect{dialectVLLM, dialectLlama, dialectTGI}
}

func (s *Server) speaks(dialect tokenizeDialect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialect = dialect
}

func (s *Server) tokenizeBody(dialect tokenizeDialect, text string, special bool) map[string]any {
	switch dialect {
	case dialectLlama:
		return map[string]any{"content": text, "add_special": special}
	case dialectTGI:
		return map[string]any{"inputs": text, "add_special_tokens": special}
	default:
		return map[string]any{"model": s.Model(), "prompt": text, "add_special_tokens": special}
	}
}

// parseTokens reads {"tokens":[1,2]}, {"tokens":[{"id":1}]} and [{"id":1}].
func parseTokens(body []byte) ([]int, bool) {
	var wrapped struct {
		Tokens *json.RawMessage `json:"tokens"`
	}
	list := body
	if strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
		if json.Unmarshal(body, &wrapped) != nil || wrapped.Tokens == nil {
			return nil, false
		}
		list = *wrapped.Tokens
	}
	var ids []int
	if json.Unmarshal(list, &ids) == nil {
		return ids, true
	}
	var pieces []struct {
		ID int `json:"id"`
	}
	if json.Unmarshal(list, &pieces) != nil {
		return nil, false
	}
	ids = nil
	for _, piece := range pieces {
		ids = append(ids, piece.ID)
	}
	return ids, true
}
