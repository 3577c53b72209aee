package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/prng"
)

// buildSharedPrefix makes groups of prompts: each group begins with a prefix of
// its own, PrefixLen tokens, and each prompt continues with InputLen tokens of its
// own. Groups take turns, or follow the seed with Shuffle.
func buildSharedPrefix(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}

	groups := cmp.Or(spec.NumPrefixes, 1)
	if spec.PrefixLen == 0 {
		return nil, errors.New("prefix length 0: shared_prefix prompts need one, at least 1 token")
	}
	if groups > spec.N {
		return nil, fmt.Errorf("%d prefixes for %d prompts: want at most one prefix a prompt", groups, spec.N)
	}

	m, err := newMaker(spec, tok)
	if err != nil {
		return nil, err
	}

	prefixes := make([]Prompt, groups)
	for g := range prefixes {
		if prefixes[g], err = m.make(ctx, Prompt{}, spec.PrefixLen, g); err != nil {
			return nil, fmt.Errorf("prefix %d: %w", g+1, err)
		}
	}

	set := &Set{Prompts: make([]Prompt, spec.N)}
	for i := range set.Prompts {
		group := i % groups
		p, err := m.make(ctx, prefixes[group], m.inputs[i], groups+i)
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		p.OutputTokens, p.Group = m.outputs[i], group+1
		set.Prompts[i] = p
	}

	if spec.Shuffle {
		shuffle(set.Prompts, spec.Seed)
	}

	set.Notes = append(set.Notes, m.notes()...)
	return set, nil
}

// maker makes random prompts of set lengths, as ids or in words.
type maker struct {
	plan

	ids   *pool   // nil: words
	words *writer // nil: ids
	off   lengthErrors
	count bool // words are counted
}

func newMaker(spec Spec, tok Tokenizer) (*maker, error) {
	m := &maker{count: tok != nil}
	if spec.TokenIDs {
		ids, err := newPool(spec, tok)
		if err != nil {
			return nil, err
		}
		m.ids = &ids
	}
	spec.Compat = CompatNewest // lengths are ours
	m.plan = drawPlan(spec, pool{})
	if m.ids == nil {
		m.words = newWriter(prng.NewPCG64(spec.Seed), tok)
	}
	return m, nil
}

// make is the prompt that continues from another with count more tokens. number
// is another one for each text that shall begin differently.
func (m *maker) make(ctx context.Context, from Prompt, count, number int) (Prompt, error) {
	if m.ids != nil {
		ids := slices.Clone(from.TokenIDs)
		for _, index := range m.draw(0, len(m.ids.allowed), count) {
			ids = append(ids, m.ids.allowed[index])
		}
		return Prompt{TokenIDs: ids, InputTokens: len(ids)}, ctx.Err()
	}

	prefix := strings.Fields(from.Text)
	want := count + from.InputTokens
	if !m.count {
		want = count + len(prefix)
	}

	start := m.words.start(number)
	words, tokens, err := m.words.compose(ctx, prefix, start[:min(2, count)], want)
	if err != nil {
		return Prompt{}, err
	}
	if m.count {
		m.off.add(tokens, want)
	}

	return Prompt{Text: strings.Join(words, " "), InputTokens: tokens}, nil
}

func (m *maker) notes() []string {
	if m.ids == nil && !m.count {
		return []string{wordsNote}
	}
	return m.off.notes()
}
