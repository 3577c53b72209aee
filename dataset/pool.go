package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// pool is the token ids that random prompts are made of.
type pool struct {
	size    int   // of the vocabulary, which offsets are drawn from
	allowed []int // ids used, ascending
	added   int   // tokens that the model puts around a prompt
}

// firstOrdinaryID is the first token id used where nobody names the special
// ones; in the llama family 0, 1 and 2 are the unknown, start and end tokens.
// Many vocabularies put theirs at the end: there VocabSize should be the number
// of ordinary tokens, as it is in vLLM's client.
const firstOrdinaryID = 3

// newPool takes the tokenizer's vocabulary, or VocabSize where that is set.
// Until 2025 vLLM's client used special ids too.
func newPool(spec Spec, tok Tokenizer) (pool, error) {
	p := pool{size: spec.VocabSize}
	vocabulary, known := tok.(Vocabulary)
	var special []int
	if known {
		p.added, special = vocabulary.SpecialAdded(), vocabulary.SpecialIDs()
		if p.size == 0 {
			p.size = vocabulary.VocabSize()
		}
	} else if !spec.legacy() {
		special = []int{0, 1, 2}
	}

	switch {
	case p.size == 0:
		return pool{}, errors.New("vocabulary size not set: random token ids need the model's number of tokens; or " +
			"send text")
	case p.size > math.MaxInt32:
		return pool{}, fmt.Errorf("vocabulary size %d: want at most %d", p.size, math.MaxInt32)
	case spec.legacy():
		special = nil
	case !known && p.size <= firstOrdinaryID:
		return pool{}, fmt.Errorf("vocabulary size %d: want more than %d, as ids below %d are left out", p.size,
			firstOrdinaryID, firstOrdinaryID)
	}

	p.fill(special)
	if len(p.allowed) == 0 {
		return pool{}, fmt.Errorf("vocabulary of %d tokens: all of them are special", p.size)
	}

	return p, nil
}

func (p *pool) fill(special []int) {
	special = slices.Clone(special)
	slices.Sort(special)
	for id := range p.size {
		if _, skip := slices.BinarySearch(special, id); !skip {
			p.allowed = append(p.allowed, id)
		}
	}
}

// run is count ids that follow each other in the pool from an index on.
func (p pool) run(from, count int) []int {
	out := make([]int, count)
	for j := range out {
		out[j] = p.allowed[(from+j)%len(p.allowed)]
	}
	return out
}

// legacy says that random prompts come from numpy's global generator.
func (s Spec) legacy() bool { return s.Compat == CompatVLLM010 || s.Compat == CompatVLLM06 }
