package dataset

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/internal/text"
)

// wordsNote goes with texts whose lengths nobody counted.
const wordsNote = "prompt lengths are counted in words, about one token each: no tokenizer to count with"

//go:embed words.txt
var wordList string

// buildRandomWords makes prompts of common English words, most of which are one
// token in most vocabularies. With a tokenizer each prompt is brought to its
// length; without one a length counts words.
//
// The two words after the shared prefix are another pair in each prompt, so
// that no prompt is the beginning of another and a prefix cache does not help.
func buildRandomWords(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	lengths := drawPlan(spec, pool{})
	rng := lengths.pcg
	if rng == nil {
		rng = prng.NewPCG64(spec.Seed)
	}

	w := newWriter(rng, tok)
	prefix, _, err := w.compose(ctx, nil, nil, spec.PrefixLen)
	if err != nil {
		return nil, err
	}

	set := &Set{Prompts: make([]Prompt, spec.N), Notes: lengths.notes()}
	if spec.Compat != CompatNewest {
		set.Notes = append(set.Notes, "these are not the prompts of vLLM's client, only of their lengths: its text "+
			"needs a tokenizer with a vocabulary, or send token ids")
	}

	starts := map[string]bool{}
	off := lengthErrors{}
	for i := range set.Prompts {
		start := w.start(i)[:min(2, lengths.inputs[i])]
		want := spec.PrefixLen + lengths.inputs[i]
		words, tokens, err := w.compose(ctx, prefix, start, want)
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		own := words[len(prefix):]
		starts[strings.Join(own[:min(2, len(own))], " ")] = true
		set.Prompts[i] = Prompt{Text: strings.Join(words, " "), InputTokens: tokens, OutputTokens: lengths.outputs[i]}
		off.add(tokens, want)
	}

	set.noteAlike(len(starts))
	if tok == nil {
		set.Notes = append(set.Notes, wordsNote)
	} else {
		set.Notes = append(set.Notes, off.notes()...)
	}

	return set, nil
}

// lengthErrors sums up which prompts missed their length.
type lengthErrors struct{ count, largest int }

func (e *lengthErrors) add(tokens, want int) {
	if tokens != want {
		e.count++
		e.largest = max(e.largest, tokens-want, want-tokens)
	}
}

func (e *lengthErrors) notes() []string {
	if e.count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s not exactly as long as requested, by at most %s: the vocabulary has no text of "+
		"that length", text.Count(e.count, "prompt"), text.Count(e.largest, "token"))}
}

// writer composes texts from the word list.
type writer struct {
	rng   *prng.PCG64
	tok   Tokenizer
	words []string // in the seed's order
	short []string // those of them that are surest to be one token
	inner bool     // texts stand within a conversation: the model puts nothing around them
}

func newWriter(rng *prng.PCG64, tok Tokenizer) *writer {
	w := &writer{rng: rng, tok: tok, words: strings.Fields(wordList)}
	for i := len(w.words) - 1; i > 0; i-- {
		j := rng.Integers(0, i+1, 1)[0]
		w.words[i], w.words[j] = w.words[j], w.words[i]
	}
	for _, word := range w.words {
		if len(word) <= 3 {
			w.short = append(w.short, word)
		}
	}
	return w
}

// start is the pair of words that prompt i begins with; it repeats only after
// the square of the list's length.
func (w *writer) start(i int) []string {
	n := len(w.words)
	return []string{w.words[i%n], w.words[(i+i/n+1)%n]}
}

func (w *writer) draw(from []string, n int) []string {
	out := make([]string, n)
	for i, index := range w.rng.Integers(0, len(from), n) {
		out[i] = from[index]
	}
	return out
}

// maxFits bounds how often one prompt is counted.
const maxFits = 10

// compose returns prefix, start and as many random words as make up want
// tokens, and the number of tokens, 0 without a tokenizer. When it meets no
// exact fit in maxFits tries, it returns the nearest that is not longer, for a
// server refuses what does not fit its context. Only words that must stand may
// make it longer.
func (w *writer) compose(ctx context.Context, prefix, start []string, want int) ([]string, int, error) {
	fixed := len(prefix) + len(start)
	words := append(append(make([]string, 0, max(want, fixed)), prefix...), start...)
	words = append(words, w.draw(w.words, max(0, want-fixed))...)
	if w.tok == nil || want == 0 {
		return words, 0, ctx.Err()
	}

	fixed = len(prefix) + min(1, len(start))
	var best []string
	bestTokens := 0
	for try := 1; ; try++ {
		tokens, err := w.count(ctx, words)
		if err != nil {
			return nil, 0, err
		}
		if best == nil || bestTokens > want && tokens < bestTokens || tokens <= want && tokens > bestTokens {
			best, bestTokens = append(best[:0], words...), tokens
		}
		shortest := len(words) <= max(fixed, 1)
		switch {
		case tokens == want, tokens > want && shortest, try >= maxFits && bestTokens <= want:
			return best, bestTokens, nil
		case try >= maxFits: // all were longer: what is cut is no longer made up for
			words = words[:max(fixed, 1, len(words)-max(1, tokens-want))]
		default:
			words = w.resize(words, fixed, tokens, want)
		}
	}
}

func (w *writer) count(ctx context.Context, words []string) (int, error) {
	ids, err := w.tok.Encode(ctx, strings.Join(words, " "), !w.inner)
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	return len(ids), nil
}

// resize cuts or adds the words that the missing tokens stand for at the
// average so far. The last few tokens are made up with short words, and a cut
// is one word deeper than the average says, so that these can follow. The first
// words, fixed in number, stay.
func (w *writer) resize(words []string, fixed, tokens, want int) []string {
	const few = 8
	change := (want - tokens) * len(words) / max(1, tokens)
	switch {
	case want > tokens+few:
		return append(words, w.draw(w.words, max(1, change))...)
	case want > tokens:
		return append(words, w.draw(w.short, want-tokens)...)
	}
	return words[:max(fixed, 1, len(words)+change-1)]
}
