// Package prng reproduces, bit for bit, the random streams of CPython's random
// module, of numpy's legacy RandomState and of numpy's default_rng.
//
// What goes in: a seed. What comes out: the integers that those libraries draw
// for it, and their floats to the last bits that the logarithm and power of the
// C library leave open (a relative 1e-13). vLLM's benchmark client draws its
// prompts, their order and its send times from these streams, so the same seed
// gives the same load here. The package reads no clock, no entropy and no file,
// and is not for secrets.
package prng

const (
	mtWords  = 624
	mtOffset = 397
)

// mt19937 is the Mersenne Twister that CPython and numpy's RandomState share;
// they differ in how they seed it and in what they make of its words.
type mt19937 struct {
	state [mtWords]uint32
	next  int // index of the next word; mtWords: a new block is due
	drawn uint64
}

// seedWord is the reference implementation's init_genrand.
func (m *mt19937) seedWord(seed uint32) {
	m.state[0] = seed
	for i := 1; i < mtWords; i++ {
		prev := m.state[i-1]
		m.state[i] = (prev^prev>>30)*1812433253 + uint32(i)
	}
	m.next = mtWords
}

// seedKey is the reference implementation's init_by_array.
func (m *mt19937) seedKey(key []uint32) {
	m.seedWord(19650218)
	at := 1
	advance := func() {
		if at++; at == mtWords {
			m.state[0] = m.state[mtWords-1]
			at = 1
		}
	}

	for n := range max(mtWords, len(key)) {
		k := n % len(key)
		prev := m.state[at-1]
		m.state[at] = (m.state[at] ^ (prev^prev>>30)*1664525) + key[k] + uint32(k)
		advance()
	}

	for range mtWords - 1 {
		prev := m.state[at-1]
		m.state[at] = (m.state[at] ^ (prev^prev>>30)*1566083941) - uint32(at)
		advance()
	}

	m.state[0] = 1 << 31
	m.next = mtWords
}

// refill computes the next block of words in place.
func (m *mt19937) refill() {
	for i := range m.state {
		y := m.state[i]&(1<<31) | m.state[(i+1)%mtWords]&(1<<31-1)
		twist := y >> 1
		if y&1 == 1 {
			twist ^= 0x9908b0df
		}
		m.state[i] = m.state[(i+mtOffset)%mtWords] ^ twist
	}
	m.next = 0
}

func (m *mt19937) uint32() uint32 {
	if m.next == mtWords {
		m.refill()
	}
	y := m.state[m.next]
	m.next++
	m.drawn++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float64 is uniform in [0, 1) with 53 bits, from two words.
func (m *mt19937) float64() float64 {
	high, low := m.uint32()>>5, m.uint32()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}
