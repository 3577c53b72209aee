package dataset

import (
	"fmt"
	"math"

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

// notes tells what was changed about the draws.
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
