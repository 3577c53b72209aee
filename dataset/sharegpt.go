package dataset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

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
func buildShareGPT(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
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
		shuffle(places, spec.Seed)
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

// place is where a conversation is in its file.
type place struct {
	number     int // of the conversation, from 1
	table.Span     // a separator may come first
}

// shareGPT reads conversations from a file whose places are known.
type shareGPT struct {
	file   io.ReaderAt
	places []place
}

// conversation is the part of an entry that is used. Turns after the second are
// never decoded.
type conversation struct {
	Turns []json.RawMessage `json:"conversations"`
}

// indexShareGPT finds the conversations of two turns or more. The file is one
// JSON array; other entries are passed over.
func indexShareGPT(ctx context.Context, r io.Reader) ([]place, error) {
	decoder := json.NewDecoder(r)
	opening, err := decoder.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, table.JSONError(err)
	case opening != json.Delim('['):
		return nil, errors.New("the file is not one JSON array of conversations")
	}

	var places []place
	for number := 1; decoder.More(); number++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		start := decoder.InputOffset()
		var c conversation
		if err := decoder.Decode(&c); err != nil {
			return nil, fmt.Errorf("conversation %d (from byte %d): %w", number, start, table.JSONError(err))
		}
		if len(c.Turns) >= 2 {
			places = append(places, place{number, table.Span{Start: start, End: decoder.InputOffset()}})
		}
	}

	return places, table.EndOfArray(decoder)
}

// said is all of a conversation.
func (s shareGPT) said(at place) ([]table.Utterance, error) {
	c, err := s.read(at)
	if err != nil {
		return nil, err
	}
	var out []table.Utterance
	for i, raw := range c.Turns {
		var m table.JSONMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, table.JSONError(err))
		}
		out = append(out, m.Utterance())
	}
	return out, nil
}

// read reads a conversation of two turns or more again.
func (s shareGPT) read(at place) (c conversation, err error) {
	raw, err := at.Read(s.file)
	if err != nil {
		return c, err
	}
	raw = bytes.TrimLeft(raw, ", \t\r\n")
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, table.JSONError(err)
	}
	if len(c.Turns) < 2 {
		return c, errors.New("the file changed while it was read")
	}
	return c, nil
}

// turns returns the texts of a conversation's first two turns. A turn without
// a value has an empty text.
func (s shareGPT) turns(at place) (question, answer string, err error) {
	c, err := s.read(at)
	if err != nil {
		return "", "", err
	}

	var texts [2]string
	for i := range texts {
		var turn struct {
			Value string `json:"value"`
		}
		if err := json.Unmarshal(c.Turns[i], &turn); err != nil {
			return "", "", fmt.Errorf("turn %d: %w", i+1, table.JSONError(err))
		}
		texts[i] = turn.Value
	}

	return texts[0], texts[1], nil
}

// turnsPrompt makes a prompt of the first turns of a conversation; ok is false
// if there are fewer of them, or if one does not pass vLLM's filter. Only a
// conversation of one turn may lack an answer: files of prompts have none.
func turnsPrompt(ctx context.Context, said []table.Exchange, spec Spec, tok Tokenizer) (p Prompt, ok bool, err error) {
	turns := cmp.Or(spec.Turns, 1)
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
			p.Turns = append(p.Turns, Turn{Text: e.Asked, OutputTokens: answered})
			continue
		}
		p.Text, p.OutputTokens = e.Asked, answered
		if tok != nil {
			p.InputTokens = asked
		}
	}

	return p, true, nil
}
