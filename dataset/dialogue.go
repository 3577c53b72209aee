package dataset

import (
	"context"

	"github.com/benchrig/bench/dataset/table"
)

// turnsPrompt makes a prompt of the first turns of a conversation; ok is false
// if there are fewer of them, or if one does not pass vLLM's filter. Only a
// single turn may be without an answer, as those of files of prompts are.
func turnsPrompt(ctx context.Context, said []table.Exchange, spec Spec, tok Tokenizer) (p Prompt, ok bool, err error) {
	turns := orElse(spec.Turns, 1)
	if len(said) < turns {
		return Prompt{}, false, ctx.Err()
	}

	for i, e := range said[:turns] {
		asked, err := countTokens(ctx, tok, e.Asked)
		if err != nil {
			return Prompt{}, false, err
		}
		answered, fixed := spec.OutputLen, spec.OutputLen > 0 || turns == 1 && e.Answered == ""
		if !fixed {
			if answered, err = countTokens(ctx, tok, e.Answered); err != nil {
				return Prompt{}, false, err
			}
		}
		if !keepTurn(asked, answered, fixed) {
			return Prompt{}, false, nil
		}
		if i > 0 {
			p.Turns = append(p.Turns, Turn{e.Asked, answered})
			continue
		}
		p.Text, p.OutputTokens = e.Asked, answered
		if tok != nil {
			p.InputTokens = asked
		}
	}

	return p, true, nil
}
