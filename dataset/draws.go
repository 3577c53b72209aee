package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/benchrig/bench/dataset/prng"
)

// plan is what vLLM's random dataset draws before it writes a prompt.
type plan struct {
	prefix          []int // token ids
	inputs, outputs []int // tokens of each prompt beside the prefix, and of its answer
	offsets         []int // of each prompt in the vocabulary
	shortest        bool  // an input was drawn as 0 and set to 1
	// above 0: tokens that the model puts around each prompt, which leave no room in the length asked
	around int

	draw  func(low, high, count int) []int // goes on with the same stream
	numpy *prng.Numpy                      // that stream, if it is the global one
	pcg   *prng.PCG64                      // that stream, if it is not
}

// span is a range of lengths, both ends in it.
type span struct{ low, high int }

// spans are the ranges of input and answer lengths by the rules of spec.Compat.
// added tokens come on top of an input.
func (s Spec) spans(added int) (input, output span) {
	inRatio, outRatio := s.RangeRatio, s.RangeRatio
	if s.RangeRatioOutput != nil {
		outRatio = *s.RangeRatioOutput
	}

	inputLen := max(0, s.InputLen-added)
	switch s.Compat {
	case CompatVLLM06:
		return below(s.InputLen, inRatio), below(s.OutputLen, outRatio)
	case CompatVLLM010:
		return around(inputLen, inRatio, math.Trunc, math.Trunc), around(s.OutputLen, outRatio, math.Trunc, math.Trunc)
	}

	input = around(inputLen, inRatio, math.Floor, math.Ceil)
	if s.Compat == CompatNewest {
		input = span{max(1, input.low), max(1, input.high)}
	}

	output = around(s.OutputLen, outRatio, math.Floor, math.Ceil)
	return input, span{max(1, output.low), max(1, output.high)}
}

// around goes from l(1-r) to l(1+r).
func around(length int, ratio float64, down, up func(float64) float64) span {
	return span{int(down(float64(length) * (1 - ratio))), int(up(float64(length) * (1 + ratio)))}
}

// below goes from lr to l; a ratio of 0, which was not set, stands for 1.
func below(length int, ratio float64) span {
	if ratio == 0 {
		ratio = 1
	}
	return span{int(float64(length) * ratio), length}
}

// drawPlan makes the first draws of vLLM's random dataset in its order. A pool
// of size 0 gives lengths only.
func drawPlan(spec Spec, ids pool) plan {
	var p plan
	added := ids.added
	if spec.TokenIDs && spec.Compat == CompatNewest {
		added = 0 // nobody adds any to ids
	}

	input, output := spec.spans(added)
	if spec.Compat == CompatNewest && added > 0 && spec.InputLen <= added {
		p.around = added
	}
	if spec.legacy() {
		p.numpy = prng.NewNumpy(spec.Seed)
		p.draw = p.numpy.RandInt
	} else {
		p.pcg = prng.NewPCG64(spec.Seed)
		p.draw = p.pcg.Integers
	}

	if spec.legacy() && ids.size > 0 {
		p.prefix = p.draw(0, ids.size, spec.PrefixLen)
	}

	p.inputs = p.draw(input.low, input.high+1, spec.N)
	p.outputs = p.draw(output.low, output.high+1, spec.N)
	if ids.size > 0 {
		p.offsets = p.draw(0, ids.size, spec.N)
	}
	if !spec.legacy() && ids.size > 0 {
		for _, index := range p.draw(0, len(ids.allowed), spec.PrefixLen) {
			p.prefix = append(p.prefix, ids.allowed[index])
		}
	}

	p.raise(spec.PrefixLen)
	return p
}

// raise sets lengths of 0, which old rules may draw, to 1: servers refuse them.
func (p *plan) raise(prefix int) {
	for i := range p.inputs {
		if p.inputs[i] < 1 && prefix == 0 {
			p.inputs[i], p.shortest = 1, true
		}
		if p.outputs[i] < 1 {
			p.outputs[i], p.shortest = 1, true
		}
	}
}

// numpyDrawn is what the plan took from the global generator so far.
func (p plan) numpyDrawn() uint64 {
	if p.numpy == nil {
		return 0
	}
	return p.numpy.Drawn()
}

// notes says what was changed about the draws.
func (p plan) notes() []string {
	var notes []string
	if p.around > 0 {
		notes = append(notes, fmt.Sprintf("prompts are longer than asked: the model puts %d tokens around each, and "+
			"one more is the least", p.around))
	}
	if !p.shortest {
		return notes
	}

	return append(notes, "lengths of 0 were drawn and set to 1: servers refuse empty prompts and answers")
}

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
