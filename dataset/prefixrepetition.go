package dataset

import (
	"cmp"
	"context"
	"fmt"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/internal/text"
)

// Sizes of vLLM's prefix_repetition where none is asked.
const (
	repetitionLen      = 256
	repetitionPrefixes = 10
	repetitionOutput   = 128
)

// buildPrefixRepetition makes the prompts of vLLM's prefix_repetition: random
// prefixes, each with as many random suffixes, in the seed's order. Prompts that
// do not divide evenly are left out, as there.
func buildPrefixRepetition(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	spec.PrefixLen = cmp.Or(spec.PrefixLen, repetitionLen)
	spec.SuffixLen = cmp.Or(spec.SuffixLen, cmp.Or(spec.InputLen, repetitionLen))
	spec.NumPrefixes = cmp.Or(spec.NumPrefixes, repetitionPrefixes)
	spec.OutputLen = cmp.Or(spec.OutputLen, repetitionOutput)
	if spec.N < spec.NumPrefixes {
		return nil, fmt.Errorf("%d prompts of %d prefixes: want at least one of each", spec.N, spec.NumPrefixes)
	}
	if !spec.TokenIDs && !spec.canDecode(tok) {
		return repetitionWords(ctx, spec, tok)
	}

	set, err := repetitionIDs(ctx, spec, tok)
	if err != nil {
		return nil, err
	}

	set.repetitionNote(spec)
	return set, nil
}

func (s *Set) repetitionNote(spec Spec) {
	if missing := spec.N - len(s.Prompts); missing > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s, %d were asked: each of the %d prefixes has as many",
			text.Count(len(s.Prompts), "prompt"), spec.N, spec.NumPrefixes))
	}
}

// repetitionIDs draws ids from the whole vocabulary, special ones too, as vLLM
// does, and writes them as text unless TokenIDs asks for the ids.
func repetitionIDs(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	ids, err := newPool(spec, tok)
	if err != nil {
		return nil, err
	}

	rng := prng.NewNumpy(spec.Seed)
	c := coder{size: ids.size, draw: rng.RandInt}
	if !spec.TokenIDs {
		if c, err = newCoder(tok, ids.size, rng.RandInt); err != nil {
			return nil, err
		}
	}

	asked := spec.PrefixLen + spec.SuffixLen
	if !spec.TokenIDs && spec.Compat == CompatNewest { // vLLM's client forgets what the model puts around a prompt
		spec.SuffixLen = max(1, spec.SuffixLen-ids.added)
	}

	off := lengthErrors{}
	set := &Set{}
	for group := range spec.NumPrefixes {
		prefix, err := c.exact(ctx, spec.PrefixLen)
		if err != nil {
			return nil, err
		}
		for range spec.N / spec.NumPrefixes {
			suffix, err := c.exact(ctx, spec.SuffixLen)
			if err != nil {
				return nil, err
			}
			all := append(append([]int{}, prefix...), suffix...)
			p := Prompt{TokenIDs: all, InputTokens: len(all), OutputTokens: spec.OutputLen, Group: group + 1}
			if !spec.TokenIDs {
				if p.Text, err = c.decode(ctx, all); err != nil {
					return nil, err
				}
				read, err := c.length(ctx, p.Text)
				if err != nil {
					return nil, err
				}
				p.TokenIDs = nil
				off.add(read+ids.added, asked)
				if spec.Compat == CompatNewest {
					p.InputTokens = read + ids.added
				}
			}
			set.Prompts = append(set.Prompts, p)
		}
	}

	shuffle(set.Prompts, spec.Seed)
	set.NumpyDrawn = rng.Drawn()
	set.Notes = append(set.Notes, off.notes()...)

	return set, nil
}

// exact draws ids whose text reads as that many.
func (c coder) exact(ctx context.Context, count int) ([]int, error) {
	ids := c.draw(0, c.size, count)
	if c.dec == nil {
		return ids, ctx.Err()
	}
	_, ids, err := c.converge(ctx, ids, count)
	return ids, err
}

// repetitionWords is the same shape in words.
func repetitionWords(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	spec.InputLen, spec.Shuffle, spec.RangeRatio, spec.RangeRatioOutput = spec.SuffixLen, true, 0, nil
	asked := spec
	spec.N -= spec.N % spec.NumPrefixes
	set, err := buildSharedPrefix(ctx, spec, tok)
	if err != nil {
		return nil, err
	}
	set.repetitionNote(asked)
	set.Notes = append(set.Notes, "these are not the prompts of vLLM's client, only of their lengths: its text needs "+
		"a tokenizer with a vocabulary, or send token ids")
	return set, nil
}
