package prng

import "math/bits"

// Python is CPython's random.Random. It is not safe for concurrent use.
type Python struct{ mt mt19937 }

// NewPython is random.seed(seed).
func NewPython(seed uint64) *Python {
	p := &Python{}
	p.mt.seedKey(seedWords(seed))
	return p
}

// seedWords splits a seed into 32-bit words, lowest first, without leading zeros.
func seedWords(seed uint64) []uint32 {
	words := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high != 0 {
		words = append(words, high)
	}
	return words
}

// Below is random.randrange(n): uniform in [0, n). It panics if n < 1.
func (p *Python) Below(n int) int {
	if n < 1 {
		panic("prng: Below needs n >= 1")
	}
	width := bits.Len(uint(n))
	for {
		if v := p.bits(width); v < uint64(n) {
			return int(v)
		}
	}
}

// bits is random.getrandbits(width) for 1 <= width <= 64.
func (p *Python) bits(width int) uint64 {
	if width <= 32 {
		return uint64(p.mt.uint32() >> (32 - width))
	}
	low := uint64(p.mt.uint32())
	return low | uint64(p.mt.uint32()>>(64-width))<<32
}

// Shuffle is random.shuffle of a list with n elements.
func (p *Python) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, p.Below(i+1))
	}
}

// Choice is the index that random.choice takes from n elements.
func (p *Python) Choice(n int) int { return p.Below(n) }

// Choices is the indices that random.choices(list, k=k) takes from n elements.
func (p *Python) Choices(n, k int) []int {
	picked := make([]int, k)
	for i := range picked {
		picked[i] = int(p.mt.float64() * float64(n))
	}
	return picked
}
