package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// buildConversation makes up conversations: a first prompt of InputLen tokens
// after a prefix that all share, then Turns-1 further ones of SuffixLen tokens,
// or InputLen where that is 0. What the server answered is between them.
//
// With SubAgents, the first answer also starts as many conversations beside it,
// of a first prompt and further turns like its own. The last turn waits for
// their ends.
func buildConversation(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}
	if spec.TokenIDs {
		return nil, errors.New("token ids: turns are sent as text, since the server's answers are")
	}

	turns := cmp.Or(spec.Turns, 1)
	if turns > maxTurns {
		return nil, fmt.Errorf("%d turns: want at most %d", turns, maxTurns)
	}

	if spec.SubAgents > 0 && turns < 2 {
		return nil, errors.New("sub-agents: a conversation of one turn has none that waits for them")
	}
	if (1+spec.SubAgents)*turns > maxTurns {
		return nil, fmt.Errorf("%d turns of %d agents: want at most %d requests", turns, 1+spec.SubAgents, maxTurns)
	}

	begins := spec
	begins.N = spec.N * (1 + spec.SubAgents)
	first, err := newMaker(begins, tok)
	if err != nil {
		return nil, err
	}

	further := spec
	further.N, further.InputLen, further.PrefixLen = begins.N*(turns-1), cmp.Or(spec.SuffixLen, spec.InputLen), 0
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

	c := &conversations{first: first, next: next, turns: turns, prefix: prefix}
	set := &Set{Prompts: make([]Prompt, spec.N)}
	for i := range set.Prompts {
		if set.Prompts[i], err = c.session(ctx, i, spec.SubAgents); err != nil {
			return nil, fmt.Errorf("conversation %d: %w", i+1, err)
		}
	}

	return set, nil
}

// conversations makes conversations of turns turns.
type conversations struct {
	first, next *maker
	turns       int
	prefix      Prompt
}

// session is conversation i with its sub-agents.
func (c *conversations) session(ctx context.Context, i, agents int) (Prompt, error) {
	main, err := c.line(ctx, i*(1+agents))
	if err != nil || agents == 0 {
		return main, err
	}

	last := main.Turns[len(main.Turns)-1]
	main.Turns = main.Turns[:len(main.Turns)-1]
	last.After = []int{len(main.Turns)}

	for a := range agents {
		agent, err := c.line(ctx, i*(1+agents)+1+a)
		if err != nil {
			return Prompt{}, err
		}
		begin := len(main.Turns) + 1
		main.Turns = append(main.Turns, Turn{
			Text: agent.Text, InputTokens: agent.InputTokens, OutputTokens: agent.OutputTokens, Whole: true,
			After: []int{0},
		})
		for k, turn := range agent.Turns {
			turn.After = []int{begin + k}
			main.Turns = append(main.Turns, turn)
		}
		last.After = append(last.After, len(main.Turns))
	}

	main.Turns = append(main.Turns, last)
	return main, nil
}

// line is conversation i without sub-agents.
func (c *conversations) line(ctx context.Context, i int) (Prompt, error) {
	p, err := c.first.make(ctx, c.prefix, c.first.inputs[i], i+1)
	if err != nil {
		return Prompt{}, err
	}
	p.OutputTokens = c.first.outputs[i]

	for range c.turns - 1 {
		k := i*(c.turns-1) + len(p.Turns)
		turn, err := c.next.make(ctx, Prompt{}, c.next.inputs[k], k)
		if err != nil {
			return Prompt{}, err
		}
		p.Turns = append(p.Turns, Turn{Text: turn.Text, OutputTokens: c.next.outputs[k]})
	}

	return p, nil
}
