package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/table"
)

// Limits of vLLM's client on a ShareGPT conversation, in tokens.
const (
	minTurnTokens   = 4
	maxPromptTokens = 1024
	maxTotalTokens  = 2048
)

// keepTurn is vLLM's filter. A fixed output length is not held to the minimum.
func keepTurn(prompt, output int, fixedOutput bool) bool {
	switch {
	case prompt < minTurnTokens || prompt > maxPromptTokens:
		return false
	case output < minTurnTokens && !fixedOutput:
		return false
	}
	return prompt+output <= maxTotalTokens
}

// buildShareGPT samples a file in ShareGPT's layout as vLLM's client does: the
// conversations of two turns or more, shuffled, the first N whose first two
// turns pass the filter; repeats of them when they are fewer than N, but not by
// the rules of vLLM 0.6. With Turns, more of a conversation is kept.
//
// Only places of conversations are kept, so that memory does not grow with the
// texts of a file of many hundred megabytes; the chosen ones are read again.
func buildShareGPT(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	file, err := os.Open(spec.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
	}
	defer file.Close()

	begin, err := table.Begin(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	text := io.NewSectionReader(file, begin, math.MaxInt64-begin)
	places, err := indexShareGPT(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	kept, err := sampleShareGPT(ctx, shareGPT{text, places}, spec, tok)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	spec.NoOversample = spec.NoOversample || spec.Compat == CompatVLLM06
	set := oversample(kept, spec)
	if tok == nil {
		set.Notes = append(set.Notes, estimateNote)
	}

	return set, nil
}

// sampleShareGPT returns up to spec.N prompts, at least one.
func sampleShareGPT(ctx context.Context, conversations shareGPT, spec Spec, tok Tokenizer) ([]Prompt, error) {
	places := conversations.places
	if len(places) == 0 {
		return nil, errors.New("no conversation of two turns or more")
	}
	if spec.Shuffle {
		prng.NewPython(spec.Seed).Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}

	var kept []Prompt
	for _, place := range places {
		if len(kept) == spec.N {
			break
		}
		prompt, ok, err := conversations.prompt(ctx, place, spec, tok)
		if err != nil {
			return nil, fmt.Errorf("conversation %d: %w", place.number, err)
		}
		if ok {
			kept = append(kept, prompt)
		}
	}

	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %d conversations passes the filter: a prompt of %d to %d tokens, with its "+
			"answer at most %d",
			len(places), minTurnTokens, maxPromptTokens, maxTotalTokens)
	}

	return kept, nil
}

// prompt makes a conversation's prompt; ok is false if the filter drops it.
func (s shareGPT) prompt(ctx context.Context, at place, spec Spec, tok Tokenizer) (_ Prompt, ok bool, err error) {
	if spec.Turns > 1 {
		said, err := s.said(at)
		if err != nil {
			return Prompt{}, false, err
		}
		return turnsPrompt(ctx, table.Exchanges(said), spec, tok)
	}

	outputLen := spec.OutputLen
	question, answer, err := s.turns(at)
	if err != nil {
		return Prompt{}, false, err
	}

	asked, err := countTokens(ctx, tok, question)
	if err != nil {
		return Prompt{}, false, err
	}

	answered := outputLen
	if outputLen == 0 {
		if answered, err = countTokens(ctx, tok, answer); err != nil {
			return Prompt{}, false, err
		}
	}

	if !keepTurn(asked, answered, outputLen > 0) {
		return Prompt{}, false, nil
	}

	p := Prompt{Text: question, OutputTokens: answered}
	if tok != nil {
		p.InputTokens = asked
	}

	return p, true, nil
}
