package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"

	"benchrig/dataset/prng"
)

// buildRandom makes prompts with the draws of vLLM's random dataset: as token
// ids, the same ids; as text, words of the lengths that it would give.
func buildRandom(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	switch {
	case spec.InputLen == 0:
		return nil, errors.New("input length 0: random prompts need one, at least 1 token")
	case spec.OutputLen == 0:
		return nil, errors.New("output length 0: random prompts need one, at least 1 token")
	case spec.TokenIDs:
		return buildRandomIDs(spec, firstOrdinaryID)
	}
	return buildRandomText(ctx, spec, tok)
}

// randomLengths is each prompt's length without the shared prefix, and each answer's.
type randomLengths struct{ inputs, outputs []int }

// drawLengths makes the first draws of vLLM's random dataset. Its bounds could
// be 0 for prompts of a few tokens and a great ratio; here they are at least 1,
// as servers refuse empty prompts.
func drawLengths(rng *prng.PCG64, spec Spec) randomLengths {
	draw := func(length int) []int {
		low := math.Floor(float64(length) * (1 - spec.RangeRatio))
		high := math.Ceil(float64(length) * (1 + spec.RangeRatio))
		return rng.Integers(max(1, int(low)), max(1, int(high))+1, spec.N)
	}
	return randomLengths{inputs: draw(spec.InputLen), outputs: draw(spec.OutputLen)}
}

// firstOrdinaryID is the first token id used. The special ids of a vocabulary
// are unknown here; in the llama family 0, 1 and 2 are the unknown, start and
// end tokens. Many vocabularies put theirs at the end: there VocabSize should
// be the number of ordinary tokens, as it is in vLLM's client.
const firstOrdinaryID = 3

// buildRandomIDs follows vLLM's draws with the ids first to VocabSize-1 allowed.
func buildRandomIDs(spec Spec, first int) (*Set, error) {
	if spec.VocabSize == 0 {
		return nil, errors.New("vocabulary size not set: random token ids need the model's number of tokens; or send text")
	}
	if spec.VocabSize <= first || spec.VocabSize > math.MaxInt32 {
		return nil, fmt.Errorf("vocabulary size %d: want more than %d, as ids below %d are left out", spec.VocabSize, first, first)
	}
	rng := prng.NewPCG64(spec.Seed)
	lengths := drawLengths(rng, spec)
	offsets := rng.Integers(0, spec.VocabSize, spec.N)
	allowed := spec.VocabSize - first
	prefix := rng.Integers(0, allowed, spec.PrefixLen)

	set := &Set{Prompts: make([]Prompt, spec.N)}
	starts := map[int]bool{}
	for i := range set.Prompts {
		ids := make([]int, 0, spec.PrefixLen+lengths.inputs[i])
		for _, index := range prefix {
			ids = append(ids, first+index)
		}
		for j := range lengths.inputs[i] {
			ids = append(ids, first+(offsets[i]+i+j)%allowed)
		}
		starts[ids[spec.PrefixLen]] = true
		set.Prompts[i] = Prompt{TokenIDs: ids, InputTokens: len(ids), OutputTokens: lengths.outputs[i]}
	}
	set.noteAlike(len(starts))
	return set, nil
}

// noteAlike warns of prompts that a prefix cache may know from others.
func (s *Set) noteAlike(distinct int) {
	if alike := len(s.Prompts) - distinct; alike > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d prompts begin as another one does: a prefix cache may serve them in part",
			alike, len(s.Prompts)))
	}
}
