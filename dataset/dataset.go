// Package dataset makes prompts and their lengths: random token ids, text and
// images, recorded conversations, traces, files of prompts, and sets frozen
// before.
//
// What goes in: a Spec and, where a length must be counted, a Tokenizer. What
// comes out: a Set, the same for the same Spec and Tokenizer on every machine.
// It sends nothing and knows no server.
package dataset

import (
	"context"

	"github.com/benchrig/bench/dataset/prng"
)

// Spec says which prompts to make.
type Spec struct {
	Kind       string // see Kinds
	Path       string // of the file; unused by kinds that read none
	Seed       uint64
	N          int     // prompts to make, at least 1
	InputLen   int     // tokens; made prompts: length asked; files: 0, the dataset's own
	OutputLen  int     // tokens; 0: the dataset's own
	TokenIDs   bool    // random and the like: make token ids, not text
	VocabSize  int     // random token ids; 0: the tokenizer's
	RangeRatio float64 // random: lengths from l(1-r) to l(1+r), 0 <= r < 1; as vLLM 0.6: l*r to l, and 0 means 1
	PrefixLen  int     // tokens that all prompts, or those of a group, begin with, beside InputLen
	Shuffle    bool    // files: in the order that vLLM's client shuffles with Seed

	Compat           string   // rules to follow: CompatNewest, CompatVLLM, CompatVLLM010 or CompatVLLM06
	RangeRatioOutput *float64 // random: of the answers; nil: RangeRatio
	SuffixLen        int      // prefix_repetition: tokens after the prefix; 0: InputLen
	NumPrefixes      int      // prefix_repetition, shared_prefix: different prefixes
	NoOversample     bool     // files: fewer prompts than N rather than repeats
	Turns            int      // sharegpt, hf, conversation: user turns of each; 0: one
	Images           *Images  // random_mm; nil: its default
	Subset           string   // hf: folder below Path; burstgpt: model whose rows are used, "": GPT-4
	Field            string   // hf: column to take prompts from; "": found by name
	TemplateTokens   int      // sonnet: tokens that the model's chat template adds to a message
	BlockLen         int      // trace: tokens of a hashed block; 0: found from the lengths
	TimeUnitS        float64  // trace: seconds of a time stamp's unit; 0: found from the block length
	TraceKeys        TraceKeys
}

// MayRunShort reports whether a set may have fewer prompts than N, because its
// file has no more.
func (s Spec) MayRunShort() bool {
	switch s.Kind {
	case "trace", "burstgpt", "frozen":
		return true
	}
	return s.Path != "" && (s.NoOversample || s.Compat == CompatVLLM06)
}

// TraceKeys are the keys of a trace's rows; "": timestamp, input_length,
// output_length and hash_ids.
type TraceKeys struct {
	Timestamp, InputLength, OutputLength, HashIDs string
}

// Whose rules a dataset follows where they changed. CompatNewest adds to those
// of the newest vLLM what a server needs to be measured well.
const (
	CompatNewest  = ""
	CompatVLLM    = "vllm"      // autumn 2026
	CompatVLLM010 = "vllm-0.10" // August 2025
	CompatVLLM06  = "vllm-0.6"  // December 2024
)

// Images says which images go with each prompt.
type Images struct {
	PerRequest int         // 0: one
	Sizes      []ImageSize // nil: 256 x 256 and 1280 x 720, alike often
	Format     string      // "jpeg", "png"; "": jpeg
	Quality    int         // of jpeg, 1 to 100; 0: 75
}

// ImageSize is a size in pixels and how often it is drawn, relative to the others.
type ImageSize struct {
	Width, Height int
	Weight        float64 // 0: 1
}

// Prompt is one prompt. Exactly one of Text and TokenIDs is set.
type Prompt struct {
	Text         string
	TokenIDs     []int
	InputTokens  int // as counted, never estimated; 0: unknown
	OutputTokens int // 0: leave it to the server

	Images []string // data URLs, after the text
	Turns  []Turn   // of the user, after the first; the answers between them are the server's
	At     *float64 // when the trace sent it, seconds from the start; nil: no trace
	Group  int      // prompts of a group begin alike; from 1; 0: none
}

// Turn is a further turn of the user in a conversation.
type Turn struct {
	Text         string
	OutputTokens int // 0: leave it to the server
}

// Set is a list of prompts with its identity.
type Set struct {
	Prompts []Prompt
	SHA256  string   // of the prompts as they will be sent, hex
	Notes   []string // what a reader of the figures must know: oversampled, lengths estimated

	// NumpyDrawn is how many words the prompts took from numpy's global
	// generator. Where vLLM draws them from it, its send times follow.
	NumpyDrawn uint64
}

// Bytes is about what the set takes of memory.
func (s *Set) Bytes() int {
	const fixed = 160 // of a prompt
	n := 0
	for _, p := range s.Prompts {
		n += fixed + len(p.Text) + 8*len(p.TokenIDs)
		for _, image := range p.Images {
			n += len(image)
		}
		for _, turn := range p.Turns {
			n += len(turn.Text)
		}
	}

	return n
}

// Arrivals is the generator that send times are drawn from with a seed: where
// these prompts have left it. Each call returns a new one.
func (s *Set) Arrivals(seed uint64) *prng.Numpy { return prng.NewNumpyAt(seed, s.NumpyDrawn) }

// Tokenizer counts tokens as a server does. It may be backed by the server
// itself; nil where there is none.
type Tokenizer interface {
	// Encode returns the ids of a text; special: with the tokens that the model
	// puts around a prompt, such as BOS.
	Encode(ctx context.Context, text string, special bool) ([]int, error)
}

// Decoder is a Tokenizer that can write ids as text.
type Decoder interface {
	Decode(ctx context.Context, ids []int) (string, error)
}

// Vocabulary is a Tokenizer that knows its tokens.
type Vocabulary interface {
	VocabSize() int    // ids below it are ordinary tokens, special ones among them
	SpecialIDs() []int // ascending
	SpecialAdded() int // tokens that the model puts around a prompt
}
