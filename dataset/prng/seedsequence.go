package prng

// seedSequence is numpy's SeedSequence: it spreads the entropy of a seed over a
// pool from which a generator's whole state is drawn.
type seedSequence struct{ pool [4]uint32 }

// hasher is the multiply-and-fold hash whose constant changes with each use.
type hasher struct{ constant, factor uint32 }

func (h *hasher) hash(v uint32) uint32 {
	v ^= h.constant
	h.constant *= h.factor
	v *= h.constant
	return v ^ v>>16
}

func mixWords(x, y uint32) uint32 {
	v := x*0xca01f9dd - y*0x4973f715
	return v ^ v>>16
}

func newSeedSequence(entropy []uint32) *seedSequence {
	s, h := &seedSequence{}, &hasher{constant: 0x43b0d7e5, factor: 0x931e8875}
	for i := range s.pool {
		var word uint32
		if i < len(entropy) {
			word = entropy[i]
		}
		s.pool[i] = h.hash(word)
	}

	for from := range s.pool {
		for to := range s.pool {
			if from != to {
				s.pool[to] = mixWords(s.pool[to], h.hash(s.pool[from]))
			}
		}
	}

	return s
}

// words64 is SeedSequence.generate_state(count, uint64).
func (s *seedSequence) words64(count int) []uint64 {
	h := &hasher{constant: 0x8b51f9dd, factor: 0x58f38ded}
	out := make([]uint64, count)
	for i := range 2 * count {
		out[i/2] |= uint64(h.hash(s.pool[i%len(s.pool)])) << (32 * (i % 2))
	}
	return out
}
