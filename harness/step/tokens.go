package step

import (
	"context"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/dataset/tokenizer"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// tokenServer is a server that may be asked for tokens.
type tokenServer interface {
	Info() results.Server
	Tokenize(ctx context.Context, text string, special bool) ([]int, error)
	Detokenize(ctx context.Context, ids []int) (string, error)
}

// TokenCounter is what counts the tokens of prompts and answers: a tokenizer's
// file, the server, or nothing.
type TokenCounter struct {
	Tokenizer dataset.Tokenizer // nil: nothing counts
	Name      string            // of the file, or of the server's model
	SHA256    string            // of the file; "" for a server
	Local     bool              // a file
}

// Tokenizers are those of a run by their path, each read once.
type Tokenizers map[string]TokenCounter

// Load gives the tokenizer of a path; none for "".
func (t Tokenizers) Load(path string) (TokenCounter, error) {
	if path == "" {
		return TokenCounter{}, nil
	}
	if known, ok := t[path]; ok {
		return known, nil
	}
	loaded, err := tokenizer.Load(path)
	if err != nil {
		return TokenCounter{}, err
	}
	t[path] = TokenCounter{Tokenizer: dataset.Local(loaded), Name: loaded.Name(), SHA256: loaded.SHA256(), Local: true}
	return t[path], nil
}

// noTokenizer is the path that asks for no counting at all.
const noTokenizer = "none"

// Counter is the tokenizer of a path, none for noTokenizer, else the server's
// own if it answers when asked. A nil server is never asked.
func Counter(ctx context.Context, path string, server tokenServer) (TokenCounter, error) {
	switch {
	case path == noTokenizer || path == "" && server == nil:
		return TokenCounter{}, nil
	case path != "":
		return Tokenizers{}.Load(path)
	}
	if _, err := server.Tokenize(ctx, "Hello", false); err != nil {
		return TokenCounter{Name: server.Info().Model}, ctx.Err()
	}
	return counterOf(server), nil
}

// Count is the counter as the client wants it; nil if nothing counts.
func (c TokenCounter) Count() func(context.Context, string) (int, error) {
	if c.Tokenizer == nil {
		return nil
	}
	return func(ctx context.Context, text string) (int, error) {
		ids, err := c.Tokenizer.Encode(ctx, text, false)
		return len(ids), err
	}
}

// serverTokenizer counts tokens with a server's own tokenizer.
type serverTokenizer struct{ server tokenServer }

// Encode implements dataset.Tokenizer.
func (t serverTokenizer) Encode(ctx context.Context, text string, special bool) ([]int, error) {
	return t.server.Tokenize(ctx, text, special)
}

// Decode implements dataset.Decoder.
func (t serverTokenizer) Decode(ctx context.Context, ids []int) (string, error) {
	return t.server.Detokenize(ctx, ids)
}

func counterOf(server tokenServer) TokenCounter {
	return TokenCounter{Tokenizer: serverTokenizer{server}, Name: server.Info().Model}
}

// For is the tokenizer of a path, else the server's own if its kind has one.
func (t Tokenizers) For(path string, server tokenServer) (TokenCounter, error) {
	if path != "" {
		c, err := t.Load(path)
		if err != nil {
			return c, results.Failf(results.FailDataset, "%v", err)
		}
		return c, nil
	}

	info := server.Info()
	if kind, _ := engines.Lookup(info.Launcher); kind.API.TokenizePath == "" && !info.CountsTokens {
		return TokenCounter{Name: info.Model}, nil
	}
	return counterOf(server), nil
}
