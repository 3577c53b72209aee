package dataset

import (
	"context"
	"fmt"

	"github.com/benchrig/bench/dataset/prng"
)

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
		text, err := c.decode(ctx, ids)
		if err != nil {
			return "", nil, err
		}
		if ids, err = c.encode(ctx, text); err != nil {
			return "", nil, err
		}
		switch {
		case left == 0 || len(ids) == want:
			return text, ids, nil
		case len(ids) < want:
			ids = append(ids, c.draw(0, c.size, want-len(ids))...)
		default:
			ids = ids[:want]
		}
	}
}

// fit is converge, but never longer than want: a server refuses what does not
// fit its context. Where the loop ends with too many ids, ever more of them are
// cut.
func (c coder) fit(ctx context.Context, ids []int, want int) (string, []int, error) {
	text, read, err := c.converge(ctx, ids, want)
	for short := 1; err == nil && len(read) > want && short < want; short++ {
		if text, err = c.decode(ctx, read[:want-short]); err == nil {
			read, err = c.encode(ctx, text)
		}
	}
	return text, read, err
}

// cutOnce is the way of 2025: read again once, cut, written again.
func (c coder) cutOnce(ctx context.Context, ids []int, want int) (string, []int, error) {
	text, err := c.decode(ctx, ids)
	if err != nil {
		return "", nil, err
	}
	if ids, err = c.encode(ctx, text); err != nil {
		return "", nil, err
	}
	ids = ids[:min(want, len(ids))]
	text, err = c.decode(ctx, ids)
	return text, ids, err
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
// is one, is called with each prompt when its text has been drawn; it may go on
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
