package prng

import (
	"math"
	"math/bits"
)

// PCG64 is numpy's default_rng: PCG XSL-RR 128/64, seeded by a SeedSequence.
// It is not safe for concurrent use.
type PCG64 struct {
	state, step uint128

	// 32-bit draws use both halves of a 64-bit one; spare keeps the high half.
	highHalf uint32
	hasHigh  bool
}

type uint128 struct{ high, low uint64 }

func (a uint128) add(b uint128) uint128 {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return uint128{high, low}
}

func (a uint128) mul(b uint128) uint128 {
	high, low := bits.Mul64(a.low, b.low)
	return uint128{high + a.high*b.low + a.low*b.high, low}
}

// NewPCG64 is np.random.default_rng(seed).
func NewPCG64(seed uint64) *PCG64 {
	w := newSeedSequence(seedWords(seed)).words64(4)
	p := &PCG64{step: uint128{w[2]<<1 | w[3]>>63, w[3]<<1 | 1}}
	p.advance()
	p.state = p.state.add(uint128{w[0], w[1]})
	p.advance()
	return p
}

func (p *PCG64) advance() {
	multiplier := uint128{2549297995355413924, 4865540595714422341}
	p.state = p.state.mul(multiplier).add(p.step)
}

func (p *PCG64) uint64() uint64 {
	p.advance()
	return bits.RotateLeft64(p.state.high^p.state.low, -int(p.state.high>>58))
}

func (p *PCG64) uint32() uint32 {
	if p.hasHigh {
		p.hasHigh = false
		return p.highHalf
	}
	v := p.uint64()
	p.highHalf, p.hasHigh = uint32(v>>32), true
	return uint32(v)
}

// Integers is rng.integers(low, high, size=count): uniform in [low, high). A
// range of one value draws nothing. It panics on an empty range and on one of
// more than 2^32 values.
func (p *PCG64) Integers(low, high, count int) []int {
	top := lastOf(low, high)
	out := make([]int, count)
	for i := range out {
		out[i] = low + int(p.upTo(top))
	}
	return out
}

// Float64 is rng.random(): uniform in [0, 1) with 53 bits.
func (p *PCG64) Float64() float64 { return float64(p.uint64()>>11) / (1 << 53) }

// Bytes is rng.integers(0, 256, size=count, dtype=np.uint8): four of each
// 32-bit draw, lowest first; those left over are dropped.
func (p *PCG64) Bytes(count int) []byte {
	out := make([]byte, 0, count+3)
	for len(out) < count {
		v := p.uint32()
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return out[:count]
}

// upTo is uniform in [0, top], by Lemire's multiplication method.
func (p *PCG64) upTo(top uint32) uint32 {
	switch top {
	case 0:
		return 0
	case math.MaxUint32:
		return p.uint32()
	}
	size := top + 1
	product := uint64(p.uint32()) * uint64(size)
	if uint32(product) < size {
		for biased := -size % size; uint32(product) < biased; {
			product = uint64(p.uint32()) * uint64(size)
		}
	}
	return uint32(product >> 32)
}
