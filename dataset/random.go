package dataset

import (
	"context"
	"errors"
	"fmt"
)

// buildRandom makes prompts with the draws of vLLM's random dataset: as token
// ids, the same ids; as text, the same text where the tokenizer can write ids,
// else words of the lengths that it would give.
func buildRandom(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}
	if spec.TokenIDs {
		return buildRandomIDs(spec, tok)
	}
	if spec.canDecode(tok) {
		return buildRandomText(ctx, spec, tok, nil)
	}
	return buildRandomWords(ctx, spec, tok)
}

// checkLengths refuses to make prompts without a length.
func (s Spec) checkLengths() error {
	switch {
	case s.InputLen == 0:
		return fmt.Errorf("input length 0: %s prompts need one, at least 1 token", s.Kind)
	case s.OutputLen == 0:
		return fmt.Errorf("output length 0: %s prompts need one, at least 1 token", s.Kind)
	}
	return nil
}

// canDecode says whether text can be made of random ids as vLLM does. A server
// can decode, but only who asks for vLLM's rules and names the vocabulary's
// size gets the many questions that this takes.
func (s Spec) canDecode(tok Tokenizer) bool {
	if _, ok := tok.(Decoder); !ok {
		return false
	}
	_, known := tok.(Vocabulary)
	return known || s.VocabSize > 0 && s.Compat != CompatNewest
}

// buildRandomIDs sends the ids themselves.
func buildRandomIDs(spec Spec, tok Tokenizer) (*Set, error) {
	ids, err := newPool(spec, tok)
	if err != nil {
		return nil, err
	}
	return randomIDs(spec, ids), nil
}

func randomIDs(spec Spec, ids pool) *Set {
	p := drawPlan(spec, ids)
	set := &Set{Prompts: make([]Prompt, spec.N), NumpyDrawn: p.numpyDrawn(), Notes: p.notes()}
	starts := map[int]bool{}
	for i := range set.Prompts {
		own := ids.run(p.offsets[i]+i, p.inputs[i])
		if len(own) > 0 {
			starts[own[0]] = true
		}
		all := append(append(make([]int, 0, len(p.prefix)+len(own)), p.prefix...), own...)
		set.Prompts[i] = Prompt{TokenIDs: all, InputTokens: len(all), OutputTokens: p.outputs[i]}
	}
	set.noteAlike(len(starts))
	return set
}

// noteAlike warns of prompts that a prefix cache may know from others.
func (s *Set) noteAlike(distinct int) {
	if alike := len(s.Prompts) - distinct; alike > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d prompts begin as another one does: a prefix cache may serve "+
			"them in part",
			alike, len(s.Prompts)))
	}
}

// noteSame warns of prompts that are another one over again.
func (s *Set) noteSame() {
	seen := map[string]bool{}
	for _, p := range s.Prompts {
		seen[p.Text] = true
	}
	if same := len(s.Prompts) - len(seen); same > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d prompts are the same as another one: a prefix cache serves "+
			"them",
			same, len(s.Prompts)))
	}
}

var errNoDecoder = errors.New("the tokenizer cannot write token ids as text: name a tokenizer file, or send token ids")
