// Package dataset makes prompts and their lengths: random token ids or text,
// ShareGPT conversations, JSON lines.
//
// What goes in: a Spec and, where a length must be counted, a Tokenizer. What
// comes out: a Set, the same for the same Spec and Tokenizer on every machine.
// It sends nothing and knows no server.
package dataset

import "context"

// Spec says which prompts to make.
type Spec struct {
	Kind       string // "random", "sharegpt", "jsonl"
	Path       string // of the file; unused by random
	Seed       uint64
	N          int     // prompts to make, at least 1
	InputLen   int     // tokens; random: length asked; others: 0, the dataset's own
	OutputLen  int     // tokens; 0: the dataset's own
	TokenIDs   bool    // random: make token ids, not text
	VocabSize  int     // random token ids: ids 3 to VocabSize-1 are used
	RangeRatio float64 // random: lengths from l(1-r) to l(1+r), 0 <= r < 1
	PrefixLen  int     // random: tokens that all prompts begin with, beside InputLen
	Shuffle    bool    // files: in the order that vLLM's client shuffles with Seed
}

// Prompt is one prompt. Exactly one of Text and TokenIDs is set.
type Prompt struct {
	Text         string
	TokenIDs     []int
	InputTokens  int // as counted, never estimated; 0: unknown
	OutputTokens int // 0: leave it to the server
}

// Set is a list of prompts with its identity.
type Set struct {
	Prompts []Prompt
	SHA256  string   // of the prompts as they will be sent, hex
	Notes   []string // what a reader of the figures must know: oversampled, lengths estimated
}

// Tokenizer counts tokens as a server does. It may be backed by the server
// itself; nil where there is none.
type Tokenizer interface {
	Encode(ctx context.Context, text string) ([]int, error)
}
