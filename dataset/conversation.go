package dataset

import (
	"context"
	"errors"
	"fmt"
)

// buildConversation makes up conversations: a first prompt of InputLen tokens
// after a prefix that all share, then Turns-1 further ones of SuffixLen tokens,
// or InputLen where that is 0. What the server answered stands between them.
func buildConversation(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}
	if spec.TokenIDs {
		return nil, errors.New("token ids: turns are sent as text, since the server's answers are")
	}

	turns := orElse(spec.Turns, 1)
	if turns > maxTurns {
		return nil, fmt.Errorf("%d turns: want at most %d", turns, maxTurns)
	}

	first, err := newMaker(spec, tok)
	if err != nil {
		return nil, err
	}

	further := spec
	further.N, further.InputLen, further.PrefixLen = spec.N*(turns-1), orElse(spec.SuffixLen, spec.InputLen), 0
	further.Seed++
	next, err := newMaker(further, tok)
	if err != nil {
		return nil, err
	}
	if next.words != nil {
		next.words.inner = true
	}

	set, err := converse(ctx, spec, turns, first, next)
	if err != nil {
		return nil, err
	}

	first.off.count += next.off.count
	first.off.largest = max(first.off.largest, next.off.largest)
	set.Notes = append(set.Notes, first.notes()...)
	return set, nil
}

// maxTurns bounds a conversation.
const maxTurns = 1000

func converse(ctx context.Context, spec Spec, turns int, first, next *maker) (*Set, error) {
	prefix, err := first.make(ctx, Prompt{}, spec.PrefixLen, 0)
	if err != nil {
		return nil, err
	}

	set := &Set{Prompts: make([]Prompt, spec.N)}
	for i := range set.Prompts {
		p, err := first.make(ctx, prefix, first.inputs[i], i+1)
		if err != nil {
			return nil, fmt.Errorf("conversation %d: %w", i+1, err)
		}
		p.OutputTokens = first.outputs[i]
		for range turns - 1 {
			k := i*(turns-1) + len(p.Turns)
			turn, err := next.make(ctx, Prompt{}, next.inputs[k], k)
			if err != nil {
				return nil, fmt.Errorf("conversation %d: %w", i+1, err)
			}
			p.Turns = append(p.Turns, Turn{Text: turn.Text, OutputTokens: next.outputs[k]})
		}
		set.Prompts[i] = p
	}

	return set, nil
}
