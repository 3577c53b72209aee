package endpoint

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// Tokenize returns the token ids of text as the server counts them. With
// special they include the tokens that it puts around a prompt, such as BOS.
// It is an error for a kind that has no such endpoint.
func (e *Endpoint) Tokenize(ctx context.Context, text string, special bool) ([]int, error) {
	at := e.tokenizerPath()
	if at == "" {
		return nil, results.Failf(results.FailProtocol, "launcher %s has no tokenize endpoint", e.kind.Name)
	}
	var last Answer
	for _, dialect := range e.dialects() {
		last = e.probe.post(ctx, at, e.tokenizeBody(dialect, text, special))
		if failure := last.Final(); failure != nil {
			return nil, failure
		}
		ids, ok := parseTokens(last.Body)
		// llama-server ignores vLLM's fields and tokenizes nothing.
		if !last.OK() || !ok || len(ids) == 0 && text != "" {
			continue
		}
		e.speaks(dialect)
		return ids, nil
	}
	if last.Err != nil || last.Status != http.StatusOK {
		return nil, last.Failure()
	}

	return nil, unusable(last)
}

// FindTokenizer looks for the usual tokenize endpoint where the kind of server
// may have one, and reports whether the server counts tokens.
func (e *Endpoint) FindTokenizer(ctx context.Context) bool {
	if e.tokenizerPath() != "" || !e.kind.API.MayTokenize {
		return e.tokenizerPath() != ""
	}
	e.tokenizeAt("/tokenize")
	ids, err := e.Tokenize(ctx, "Hello", false)
	if err != nil || len(ids) == 0 {
		e.tokenizeAt("")
	}
	return e.tokenizerPath() != ""
}

func (e *Endpoint) tokenizerPath() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tokenizePath
}

func (e *Endpoint) tokenizeAt(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tokenizePath = path
}

// dialects are those to try: the one that worked before, else all, the
// likeliest first.
func (e *Endpoint) dialects() []engines.TokenizeDialect {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dialect != "" {
		return []engines.TokenizeDialect{e.dialect}
	}
	likely := e.kind.API.Tokenize
	if kind, known := engines.ByDialect(e.spec.API); known {
		likely = kind.API.Tokenize
	}
	all := []engines.TokenizeDialect{engines.TokenizeVLLM, engines.TokenizeLlama, engines.TokenizeTGI}
	if likely == "" {
		return all
	}
	return append([]engines.TokenizeDialect{likely},
		slices.DeleteFunc(all, func(d engines.TokenizeDialect) bool { return d == likely })...)
}

func (e *Endpoint) speaks(dialect engines.TokenizeDialect) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dialect = dialect
}

func (e *Endpoint) tokenizeBody(dialect engines.TokenizeDialect, text string, special bool) map[string]any {
	switch dialect {
	case engines.TokenizeLlama:
		body := e.named()
		body["content"], body["add_special"] = text, special
		return body
	case engines.TokenizeTGI:
		return map[string]any{"inputs": text, "add_special_tokens": special}
	default:
		return map[string]any{"model": e.Model(), "prompt": text, "add_special_tokens": special}
	}
}

// named is the beginning of a body: the model, where a router needs it.
func (e *Endpoint) named() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.routed {
		return map[string]any{}
	}
	return map[string]any{"model": e.model}
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

// Detokenize returns the text of token ids as the server writes it. It is an
// error for a kind that has no such endpoint.
func (e *Endpoint) Detokenize(ctx context.Context, ids []int) (string, error) {
	at := e.tokenizerPath()
	if at == "" {
		return "", results.Failf(results.FailProtocol, "launcher %s has no detokenize endpoint", e.kind.Name)
	}
	if ids == nil {
		ids = []int{}
	}
	path := strings.TrimSuffix(at, "tokenize") + "detokenize"
	// vLLM and SGLang want the model named; llama-server ignores it.
	answer := e.probe.post(ctx, path, map[string]any{"model": e.Model(), "tokens": ids})
	if failure := answer.Final(); failure != nil {
		return "", failure
	}
	if answer.Err != nil || answer.Status != http.StatusOK {
		return "", answer.Failure()
	}
	text, ok := parseText(answer.Body)
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
