package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchrig/bench/dataset/prng"
)

// buildRandom makes prompts with the draws of vLLM's random dataset: as token
// ids, the same ids; as text, the same text where the tokenizer can write ids,
// else words of the lengths that it would give.
func buildRandom(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}
	if spec.BatchSize > 1 {
		return buildBatches(ctx, spec, tok)
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
	case s.OutputLen == 0 && !s.NoOutput:
		return fmt.Errorf("output length 0: %s prompts need one, at least 1 token", s.Kind)
	}
	return nil
}

// canDecode reports whether text can be made of random ids as vLLM does. A server
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
	return set, nil
}

// noteAlike warns of prompts that a prefix cache may know from others.
func (s *Set) noteAlike(distinct int) {
	if alike := len(s.Prompts) - distinct; alike > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("prompts that begin as another one does: %d of %d; a prefix cache may "+
			"serve them in part", alike, len(s.Prompts)))
	}
}

// noteSame warns of prompts that are another one over again.
func (s *Set) noteSame() {
	seen := map[string]bool{}
	for _, p := range s.Prompts {
		seen[p.Text] = true
	}
	if same := len(s.Prompts) - len(seen); same > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("prompts that are the same as another one: %d of %d; a prefix cache "+
			"serves them", same, len(s.Prompts)))
	}
}

var errNoDecoder = errors.New("the tokenizer cannot write token ids as text: name a tokenizer file, or send token ids")

// coder writes ids as text that has a set number of tokens.
type coder struct {
	tok  Tokenizer
	dec  Decoder
	size int                              // of the vocabulary
	draw func(low, high, count int) []int // further ids
}

func newCoder(tok Tokenizer, size int, draw func(low, high, count int) []int) (coder, error) {
	dec, ok := tok.(Decoder)
	if !ok {
		return coder{}, errNoDecoder
	}
	return coder{tok, dec, size, draw}, nil
}

// rounds of vLLM's loop: how often a text is made longer or shorter.
const rounds = 10

// converge is that loop: ids are written as text and read again, random ones
// added or the last cut, until there are want. It returns the last text and the
// ids that it reads as.
func (c coder) converge(ctx context.Context, ids []int, want int) (string, []int, error) {
	for left := rounds; ; left-- {
		text, read, err := c.reread(ctx, ids)
		switch {
		case err != nil || left == 0 || len(read) == want:
			return text, read, err
		case len(read) < want:
			ids = append(read, c.draw(0, c.size, want-len(read))...)
		default:
			ids = read[:want]
		}
	}
}

// fit is converge, but never longer than want: a server refuses what does not
// fit its context. Where the loop ends with too many ids, ever more of them are
// cut.
func (c coder) fit(ctx context.Context, ids []int, want int) (string, []int, error) {
	text, read, err := c.converge(ctx, ids, want)
	for short := 1; err == nil && len(read) > want && short < want; short++ {
		text, read, err = c.reread(ctx, read[:want-short])
	}
	return text, read, err
}

// cutOnce is the way of 2025: read again once, cut, written again.
func (c coder) cutOnce(ctx context.Context, ids []int, want int) (string, []int, error) {
	_, ids, err := c.reread(ctx, ids)
	if err != nil {
		return "", nil, err
	}
	ids = ids[:min(want, len(ids))]
	text, err := c.decode(ctx, ids)
	return text, ids, err
}

// reread writes ids as text, and reads that.
func (c coder) reread(ctx context.Context, ids []int) (text string, read []int, err error) {
	if text, err = c.decode(ctx, ids); err == nil {
		read, err = c.encode(ctx, text)
	}
	return text, read, err
}

func (c coder) decode(ctx context.Context, ids []int) (string, error) {
	text, err := c.dec.Decode(ctx, ids)
	if err != nil {
		return "", fmt.Errorf("write tokens as text: %w", err)
	}
	return text, ctx.Err()
}

func (c coder) encode(ctx context.Context, text string) ([]int, error) {
	ids, err := c.tok.Encode(ctx, text, false)
	if err != nil {
		return nil, fmt.Errorf("count tokens: %w", err)
	}
	return ids, ctx.Err()
}

// buildRandomText makes text of ids by the rules of spec.Compat. add, if there
// is one, is called with each prompt when its text has been drawn; it may continue
// with the stream.
func buildRandomText(ctx context.Context, spec Spec, tok Tokenizer, add func(*Prompt, *prng.PCG64) error) (*Set,
	error,
) {
	ids, err := newPool(spec, tok)
	if err != nil {
		return nil, err
	}

	p := drawPlan(spec, ids)
	c, err := newCoder(tok, ids.size, p.draw)
	if err != nil {
		return nil, err
	}
	if spec.PrefixLen > 0 && !spec.legacy() {
		if _, p.prefix, err = c.converge(ctx, p.prefix, spec.PrefixLen); err != nil {
			return nil, err
		}
	}

	set := &Set{Prompts: make([]Prompt, spec.N), NumpyDrawn: p.numpyDrawn(), Notes: p.notes()}
	off := lengthErrors{}
	for i := range set.Prompts {
		want := spec.PrefixLen + p.inputs[i]
		all := append(append(make([]int, 0, want), p.prefix...), ids.run(p.offsets[i]+i, p.inputs[i])...)
		text, counted, read, err := c.write(ctx, spec, all, want)
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		off.add(read, want)
		if spec.Compat == CompatNewest {
			counted += ids.added
		}
		set.Prompts[i] = Prompt{Text: text, InputTokens: counted, OutputTokens: p.outputs[i]}
		if add != nil {
			if err := add(&set.Prompts[i], p.pcg); err != nil {
				return nil, fmt.Errorf("prompt %d: %w", i+1, err)
			}
		}
	}

	set.Notes = append(set.Notes, off.notes()...)
	set.noteSame()

	return set, nil
}

// write makes the text of one prompt, the count that vLLM has of it, and the
// number of tokens that the text reads as. vLLM of 2024 never read its text
// again: it takes the number of ids; that of 2025 took the number before the
// last cut was written.
func (c coder) write(ctx context.Context, spec Spec, ids []int, want int) (text string, counted, read int, err error) {
	switch spec.Compat {
	case CompatVLLM06:
		text, err = c.decode(ctx, ids)
		counted = len(ids)
	case CompatVLLM010:
		text, ids, err = c.cutOnce(ctx, ids, want)
		counted = len(ids)
	case CompatNewest:
		text, ids, err = c.fit(ctx, ids, want)
		return text, len(ids), len(ids), err
	default:
		text, ids, err = c.converge(ctx, ids, want)
		return text, len(ids), len(ids), err
	}

	if err != nil {
		return "", 0, 0, err
	}

	read, err = c.length(ctx, text)

	return text, counted, read, err
}

// length is the number of tokens that a text reads as.
func (c coder) length(ctx context.Context, text string) (int, error) {
	ids, err := c.encode(ctx, text)

	return len(ids), err
}

// buildBatches makes random prompts, several of them one request.
func buildBatches(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if spec.TokenIDs {
		return nil, errors.New("several prompts of a request go as text, not as token ids")
	}
	return batches(ctx, spec, tok, 0)
}

// buildRandomRerank makes requests of one query, the same for all as with vLLM's
// client, and BatchSize documents. Query and document have half of the input's
// length each, but for the token between them.
func buildRandomRerank(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	const separators = 1
	spec.BatchSize = max(spec.BatchSize, 1)
	if spec.InputLen = spec.InputLen/2 - separators; spec.InputLen < 1 {
		return nil, errors.New("input length: a query and a document need 4 tokens at least")
	}
	spec.NoOutput = true
	return batches(ctx, spec, tok, separators)
}

// batches makes random prompts and puts BatchSize of them into each request. With
// separators, the first is a query that is in each request, before its texts;
// the model reads it, and so many tokens, with each of them.
func batches(ctx context.Context, spec Spec, tok Tokenizer, separators int) (*Set, error) {
	n, size, queries := spec.N, spec.BatchSize, min(separators, 1)
	spec.N, spec.BatchSize = n*size+queries, 0
	set, err := buildRandom(ctx, spec, tok)
	if err != nil {
		return nil, err
	}

	texts := set.Prompts
	set.Prompts = make([]Prompt, n)
	for i := range set.Prompts {
		own := texts[queries+i*size:][:size]
		p := own[0]
		if queries > 0 {
			p = texts[0]
			if p.InputTokens > 0 {
				p.InputTokens = (p.InputTokens + separators) * size
			}
			for _, document := range own {
				p.add(document)
			}
		} else {
			for _, more := range own[1:] {
				p.add(more)
			}
		}
		set.Prompts[i] = p
	}
	return set, nil
}

// add puts another text into p's request.
func (p *Prompt) add(text Prompt) {
	p.Texts = append(p.Texts, text.Text)
	if p.InputTokens += text.InputTokens; text.InputTokens == 0 {
		p.InputTokens = 0 // unknown
	}
}
