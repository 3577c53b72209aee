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
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

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
	BatchSize        int      // random: prompts of one request; random_rerank: documents of one; 0: one
	NoOutput         bool     // the server gives no tokens: OutputLen is not needed
	SubAgents        int      // conversation: conversations that each starts beside it after its first turn
	Images           *Images  // random_mm; nil: its default
	AudioS           float64  // random_audio: length of a file, seconds
	Subset           string   // hf: folder below Path; burstgpt: model whose rows are used, "": GPT-4
	Field            string   // hf: column to take prompts from; "": found by name
	TemplateTokens   int      // sonnet: tokens that the model's chat template adds to a message
	BlockLen         int      // trace, sessions: tokens of a hashed block; 0: found from the lengths
	TimeUnitS        float64  // trace: seconds of a time stamp's unit; 0: found from the block length
	TraceKeys        TraceKeys
	MaxWaitS         float64 // sessions: longest wait between requests, seconds; 0: as recorded
}

// MayRunShort reports whether a set may have fewer prompts than N, because its
// file has no more.
func (s Spec) MayRunShort() bool {
	switch s.Kind {
	case "trace", "sessions", "burstgpt", "frozen":
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

// Prompt is one prompt. Exactly one of Text, TokenIDs and Audio is set. As JSON it is a
// line of a frozen set.
type Prompt struct {
	Text         string `json:"text,omitempty"`
	TokenIDs     []int  `json:"token_ids,omitempty"`
	InputTokens  int    `json:"input_tokens,omitempty"`  // as counted, never estimated; 0: unknown
	OutputTokens int    `json:"output_tokens,omitempty"` // 0: leave it to the server

	Audio  []byte  `json:"audio,omitempty"` // a WAV file to be transcribed
	AudioS float64 `json:"-"`               // how long it plays, seconds

	Images []string `json:"images,omitempty"` // data URLs, after the text
	// that go with Text in one request: more to embed, or documents for a query
	Texts []string        `json:"texts,omitempty"`
	Tools json.RawMessage `json:"tools,omitempty"` // a list of tools that the answer may call; nil: none of its own
	Turns []Turn          `json:"turns,omitempty"` // further requests; the answers between them are the server's
	At    *float64        `json:"at_s,omitempty"`  // when the trace sent it, seconds from the start; nil: no trace
	Group int             `json:"group,omitempty"` // prompts of a group begin alike; from 1; 0: none

	Class   int    `json:"-"` // of a mixture's classes, from 1; 0: no mixture
	Adapter string `json:"-"` // LoRA adapter that a mixture draws; "": the model itself
}

// Turn is a further request of a conversation or session. Its place in Turns,
// counted from 1, is its number; the prompt itself is number 0.
type Turn struct {
	Text         string `json:"text,omitempty"`
	TokenIDs     []int  `json:"token_ids,omitempty"`     // instead of Text, only where Whole
	InputTokens  int    `json:"input_tokens,omitempty"`  // of a whole turn, as counted; 0: unknown
	OutputTokens int    `json:"output_tokens,omitempty"` // 0: leave it to the server
	Whole        bool   `json:"whole,omitempty"`         // all of the prompt, which else continues what was said before
	// After are lower numbers whose answers it waits for; it continues the first. Nil: the one before it. Empty: none,
	// so that it is sent WaitS after the prompt itself, and must be Whole.
	After []int `json:"after,omitzero"`
	// seconds from the last of these answers until it is sent; nil: the load's think time
	WaitS *float64 `json:"wait_s,omitempty"`
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
		n += fixed + len(p.Text) + 8*len(p.TokenIDs) + len(p.Audio)
		for _, image := range p.Images {
			n += len(image)
		}
		n += len(p.Tools)
		for _, text := range p.Texts {
			n += len(text)
		}
		for _, turn := range p.Turns {
			n += len(turn.Text) + 8*len(turn.TokenIDs)
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

// Codec is a tokenizer in this process, as package dataset/tokenizer has them.
type Codec interface {
	Vocabulary
	Encode(text string, special bool) ([]int, error)
	Decode(ids []int, skipSpecial bool) (string, error)
}

// Local makes a Tokenizer of one in this process; it is a Decoder and a
// Vocabulary too.
func Local(c Codec) Tokenizer { return local{c} }

type local struct{ codec Codec }

// Encode implements Tokenizer.
func (l local) Encode(ctx context.Context, text string, special bool) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.codec.Encode(text, special)
}

// Decode implements Decoder. Special tokens are written out, as vLLM's client does.
func (l local) Decode(ctx context.Context, ids []int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return l.codec.Decode(ids, false)
}

// VocabSize implements Vocabulary.
func (l local) VocabSize() int { return l.codec.VocabSize() }

// SpecialIDs implements Vocabulary.
func (l local) SpecialIDs() []int { return l.codec.SpecialIDs() }

// SpecialAdded implements Vocabulary.
func (l local) SpecialAdded() int { return l.codec.SpecialAdded() }

// maxTokens bounds a length, far above any model's context.
const maxTokens = 1 << 24

// check refuses what no kind can make.
func (s Spec) check() error {
	if s.N < 1 {
		return fmt.Errorf("%d prompts asked: want at least 1", s.N)
	}

	for _, l := range []struct {
		name  string
		value int
	}{
		{"input length", s.InputLen},
		{"output length", s.OutputLen},
		{"prefix length", s.PrefixLen},
		{"suffix length", s.SuffixLen},
		{"template tokens", s.TemplateTokens},
		{"block length", s.BlockLen},
	} {
		if l.value < 0 || l.value > maxTokens {
			return fmt.Errorf("%s %d: want 0 to %d tokens", l.name, l.value, maxTokens)
		}
	}

	for name, value := range map[string]int{
		"prefixes": s.NumPrefixes, "turns": s.Turns, "sub-agents": s.SubAgents,
		"vocabulary size": s.VocabSize,
	} {
		if value < 0 {
			return fmt.Errorf("%s %d: want at least 0", name, value)
		}
	}

	switch s.Compat {
	case CompatNewest, CompatVLLM, CompatVLLM010, CompatVLLM06:
	default:
		return fmt.Errorf("compat %q: want %q, %q, %q or nothing", s.Compat, CompatVLLM, CompatVLLM010, CompatVLLM06)
	}

	return errors.Join(s.checkRatios(), s.checkMemory())
}

// checkMemory refuses more prompts than this program has memory for (GOMEMLIMIT),
// before they are made: the kernel would end it in the middle of a run.
func (s Spec) checkMemory() error {
	const (
		each     = 512 // bytes of a prompt and of the record of its request, about
		perToken = 4   // of its text
	)
	tokens := 0.0
	if k, ok := lookup(s.Kind); ok && !k.file { // else the file decides
		tokens = float64(s.PrefixLen+s.SuffixLen) + (1-min(s.RangeRatio, 1))*float64(s.InputLen)
	}

	need, limit := float64(s.N)*(each+perToken*tokens), float64(debug.SetMemoryLimit(-1))
	if need > limit {
		return fmt.Errorf("%d prompts of %.0f tokens need about %.0f GiB of memory, and bench may use %.1f GiB: "+
			"ask for fewer or shorter ones", s.N, tokens, need/(1<<30), limit/(1<<30))
	}
	return nil
}

// checkRatios: vLLM 0.6 counts its ratio from the other end, so 1 is good there.
func (s Spec) checkRatios() error {
	ratios := []float64{s.RangeRatio}
	if s.RangeRatioOutput != nil {
		ratios = append(ratios, *s.RangeRatioOutput)
	}
	for _, r := range ratios {
		if s.Compat == CompatVLLM06 && r == 1 {
			continue
		}
		if !(r >= 0 && r < 1) {
			return fmt.Errorf("range ratio %v: want at least 0 and below 1", r)
		}
	}
	return nil
}

// uselessNotes says which settings a file kind cannot follow.
func (s Spec) uselessNotes() []string {
	var notes []string
	for _, setting := range []struct {
		name string
		set  bool
	}{
		{"input length", s.InputLen > 0},
		{"prefix length", s.PrefixLen > 0},
		{"range ratio", s.RangeRatio > 0},
		{"token ids", s.TokenIDs},
	} {
		if setting.set {
			notes = append(notes, fmt.Sprintf("the setting %q has no effect: %s prompts are as the file has them",
				setting.name, s.Kind))
		}
	}

	return notes
}
