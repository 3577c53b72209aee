package prng

import (
	"math"
	"math/bits"
)

// Numpy is numpy's legacy generator, np.random.RandomState. It is not safe for
// concurrent use.
type Numpy struct {
	mt mt19937

	// Normal deviates come in pairs; spare keeps the second one.
	secondDeviate float64
	hasSecond     bool
}

// NewNumpy is np.random.seed(seed).
//
// A seed of more than 32 bits, which numpy takes only as a list of words, is
// np.random.seed([low, high]).
func NewNumpy(seed uint64) *Numpy {
	n := &Numpy{}
	if seed>>32 == 0 {
		n.mt.seedWord(uint32(seed))
	} else {
		n.mt.seedKey(seedWords(seed))
	}

	return n
}

// NewNumpyAt is the generator of seed after it has drawn that many words, so
// that one program can continue with the stream that another has begun. A normal
// deviate kept for later is not part of it.
func NewNumpyAt(seed uint64, drawn uint64) *Numpy {
	n := NewNumpy(seed)
	for range drawn {
		n.mt.uint32()
	}
	return n
}

// Drawn is how many words the stream has given so far (see NewNumpyAt).
func (n *Numpy) Drawn() uint64 { return n.mt.drawn }

// Float64 is np.random.random(): uniform in [0, 1).
func (n *Numpy) Float64() float64 { return n.mt.float64() }

// RandInt is np.random.randint(low, high, size=count): uniform in [low, high).
// A range of one value draws nothing. It panics on an empty range and on one
// of more than 2^32 values.
func (n *Numpy) RandInt(low, high, count int) []int {
	top := lastOf(low, high)
	out := make([]int, count)
	for i := range out {
		out[i] = low + int(n.upTo(top))
	}
	return out
}

// lastOf is high-low-1, the last offset into the range [low, high).
func lastOf(low, high int) uint32 {
	if high <= low || uint64(high-low-1) > math.MaxUint32 {
		panic("prng: a range holds 1 to 2^32 values")
	}
	return uint32(high - low - 1)
}

// upTo is uniform in [0, top], by masking and rejecting.
func (n *Numpy) upTo(top uint32) uint32 {
	if top == 0 {
		return 0
	}
	mask := uint32(math.MaxUint32) >> bits.LeadingZeros32(top)
	for {
		if v := n.mt.uint32() & mask; v <= top {
			return v
		}
	}
}

// Permutation is np.random.permutation(count).
func (n *Numpy) Permutation(count int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = i
	}
	for i := count - 1; i > 0; i-- {
		j := n.upTo(uint32(i))
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// Exponential is np.random.exponential(scale).
func (n *Numpy) Exponential(scale float64) float64 { return scale * n.standardExponential() }

func (n *Numpy) standardExponential() float64 { return -math.Log(1 - n.mt.float64()) }

// Normal is np.random.normal(mean, std).
func (n *Numpy) Normal(mean, std float64) float64 { return mean + std*n.standardNormal() }

// standardNormal is Marsaglia's polar method as numpy orders its draws.
func (n *Numpy) standardNormal() float64 {
	if n.hasSecond {
		n.hasSecond = false
		return n.secondDeviate
	}

	for {
		x := 2*n.mt.float64() - 1
		y := 2*n.mt.float64() - 1
		r := x*x + y*y
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r) / r)
		n.secondDeviate, n.hasSecond = f*x, true
		return f * y
	}
}
