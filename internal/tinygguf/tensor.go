package tinygguf

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Sizes of the random weights, found by trial on a real server.
const (
	sharedDims  = 32  // leading dimensions that are alike in all models of one seed
	ownSpread   = 0.2 // of the other dimensions, against 1
	blockWeight = 0.1 // what a layer adds to the residual stream, against 1
	logitSpread = 5   // standard deviation of the logits
)

// tensor is a matrix of weights, made row by row when it is written.
type tensor struct {
	name   string
	width  int // of a row
	rows   int // 0: a vector of width ones
	format format
	spread float64 // standard deviation

	// The first sharedDims columns have this spread instead, if it is not 0.
	sharedSpread float64
	// first, if set, gives the first column.
	first func(row int) float64
}

func (t tensor) bytes() int { return t.format.rowBytes(t.width) * max(1, t.rows) }

// shape is the tensor's dimensions in ggml's order.
func (t tensor) shape() []int {
	if t.rows == 0 {
		return []int{t.width}
	}
	return []int{t.width, t.rows}
}

// each calls emit with one row after the other; emit must not keep the row.
func (t tensor) each(seed uint64, emit func(row []float32) error) error {
	row := make([]float32, t.width)
	if t.rows == 0 {
		for i := range row {
			row[i] = 1
		}
		return emit(row)
	}

	own, shared := newNormal(seed, t.name), newNormal(seed, t.name+" shared")
	for r := range t.rows {
		for i := range row {
			switch {
			case i == 0 && t.first != nil:
				row[i] = float32(t.first(r))
			case i < sharedDims && t.sharedSpread > 0:
				row[i] = float32(shared.next() * t.sharedSpread)
			default:
				row[i] = float32(own.next() * t.spread)
			}
		}
		if err := emit(row); err != nil {
			return err
		}
	}

	return nil
}

// tensors lists the model's weights in file order.
//
// The embedding's first column is the same for every token, so after the layers
// the first dimension of the stream is about that constant, and the first column
// of the output matrix acts as a bias of each token's logit.
func tensors(o Options, weights format, biases []float64) []tensor {
	embd := float64(o.Embd)
	unit := 1 / math.Sqrt(embd)
	constant := math.Sqrt(embd / sharedDims) // puts the stream's energy into the shared dimensions
	matrix := func(name string, width, rows int, spread float64) tensor {
		return tensor{name: name, width: width, rows: rows, format: weights, spread: spread}
	}

	ones := func(name string) tensor { return tensor{name: name, width: o.Embd, format: float32Format()} }

	embedding := matrix("token_embd.weight", o.Embd, VocabSize, ownSpread)
	embedding.sharedSpread = constant
	embedding.first = func(int) float64 { return constant }
	output := matrix("output.weight", o.Embd, VocabSize, ownSpread*logitSpread*unit)
	output.sharedSpread = logitSpread / math.Sqrt(sharedDims) / constant
	output.first = func(token int) float64 { return biases[token] / constant }

	list := []tensor{embedding, output, ones("output_norm.weight")}
	kvWidth := o.Embd / o.Heads * o.KVHeads
	for layer := range o.Layers {
		in := fmt.Sprintf("blk.%d.", layer)
		list = append(list,
			ones(in+"attn_norm.weight"),
			matrix(in+"attn_q.weight", o.Embd, o.Embd, unit),
			matrix(in+"attn_k.weight", o.Embd, kvWidth, unit),
			matrix(in+"attn_v.weight", o.Embd, kvWidth, unit),
			matrix(in+"attn_output.weight", o.Embd, o.Embd, blockWeight*unit),
			ones(in+"ffn_norm.weight"),
			matrix(in+"ffn_gate.weight", o.Embd, o.FF, unit),
			matrix(in+"ffn_up.weight", o.Embd, o.FF, unit),
			matrix(in+"ffn_down.weight", o.FF, o.Embd, blockWeight/math.Sqrt(float64(o.FF))))
	}

	return list
}

// normal draws from a nearly normal distribution with integer arithmetic, so
// that every machine gets the same bits.
type normal struct{ source *rand.PCG }

func newNormal(seed uint64, name string) normal {
	h := fnv.New64a()
	h.Write([]byte(name))
	return normal{rand.NewPCG(seed, h.Sum64())}
}

// next has mean 0 and standard deviation 1. It adds up four 16-bit uniforms.
func (n normal) next() float64 {
	const mean, std = 4 * 65535 / 2, 37837.2275
	bits := n.source.Uint64()
	sum := bits&0xffff + bits>>16&0xffff + bits>>32&0xffff + bits>>48
	return float64(int(sum)-mean) / std
}
