package dataset

import "context"

// Codec is a tokenizer in this process, as package dataset/tokenizer has them.
type Codec interface {
	Vocabulary
	Encode(text string, special bool) ([]int, error)
	Decode(ids []int, skipSpecial bool) (string, error)
}

// Local makes a Tokenizer of one in this process; it is a Decoder and a
// Vocabulary too.
func Local(c Codec) Tokenizer { return local{c} }

type local struct{ codec Codec }

// Encode implements Tokenizer.
func (l local) Encode(ctx context.Context, text string, special bool) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.codec.Encode(text, special)
}

// Decode implements Decoder. Special tokens are written out, as vLLM's client does.
func (l local) Decode(ctx context.Context, ids []int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return l.codec.Decode(ids, false)
}

// VocabSize implements Vocabulary.
func (l local) VocabSize() int { return l.codec.VocabSize() }

// SpecialIDs implements Vocabulary.
func (l local) SpecialIDs() []int { return l.codec.SpecialIDs() }

// SpecialAdded implements Vocabulary.
func (l local) SpecialAdded() int { return l.codec.SpecialAdded() }
