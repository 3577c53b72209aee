package launchers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/benchrig/bench/results"
)

// Detokenize returns the text of token ids as the server writes it. It is an
// error for a kind that has no such endpoint.
func (s *Server) Detokenize(ctx context.Context, ids []int) (string, error) {
	if s.kind.TokenizePath == "" {
		return "", results.Failf(results.FailProtocol, "launcher %s has no detokenize endpoint", s.kind.Name)
	}
	if ids == nil {
		ids = []int{}
	}
	path := strings.TrimSuffix(s.kind.TokenizePath, "tokenize") + "detokenize"
	// vLLM and SGLang want the model named; llama-server ignores it.
	answer := s.probe.post(ctx, path, map[string]any{"model": s.Model(), "tokens": ids})
	if failure := answer.final(); failure != nil {
		return "", failure
	}
	if answer.err != nil || answer.status != http.StatusOK {
		return "", answer.failure()
	}
	text, ok := parseText(answer.body)
	if !ok {
		return "", unusable(answer)
	}
	return text, nil
}

// parseText reads {"prompt":"a"} as vLLM answers, {"content":"a"} of
// llama-server and {"text":"a"} of SGLang.
func parseText(body []byte) (string, bool) {
	var text struct {
		Prompt  *string `json:"prompt"`
		Content *string `json:"content"`
		Text    *string `json:"text"`
	}
	if json.Unmarshal(body, &text) != nil {
		return "", false
	}
	for _, given := range []*string{text.Prompt, text.Content, text.Text} {
		if given != nil {
			return *given, true
		}
	}
	return "", false
}
