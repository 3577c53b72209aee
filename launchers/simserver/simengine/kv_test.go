package simengine

import (
	"math/rand/v2"
	"testing"
)

// Random use never loses or doubles a block, and the cache never gives out
// content that was overwritten.
func TestBlockPool(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := newBlockPool(50, 4, true)
		var held [][]int32
		content := map[int32]uint64{}
		for step := range 1000 {
			switch n := r.IntN(8); {
			case n < 4 && p.free() > 0:
				b := p.take()
				content[b] = r.Uint64N(40) + 1
				p.publish(b, content[b])
				held = append(held, []int32{b})
			case n < 6:
				h := r.Uint64N(40) + 1
				for _, b := range p.match([]uint64{h}) {
					if content[b] != h {
						t.Fatalf("seed %d step %d: match(%d) = block %d with content %d", seed, step, h, b, content[b])
					}
					p.share(b)
					held = append(held, []int32{b})
				}
			case len(held) > 0:
				i := r.IntN(len(held))
				p.release(held[i])
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
			}
			used := map[int32]bool{}
			for _, blocks := range held {
				used[blocks[0]] = true
			}
			if p.free() != p.total-len(used) {
				t.Fatalf("seed %d step %d: free() = %d with %d of %d in use", seed, step, p.free(), len(used), p.total)
			}
		}
	}
}

func TestBlockPoolForgetsOldestFirst(t *testing.T) {
	t.Parallel()
	p := newBlockPool(3, 4, true)
	blocks := []int32{p.take(), p.take(), p.take()}
	for i, b := range blocks {
		p.publish(b, uint64(i+1))
	}
	if p.reset() {
		t.Errorf("reset() = true with blocks in use, want false")
	}
	p.release(blocks) // the end of the sequence is let go first
	p.take()
	for h, want := range map[uint64]int{1: 1, 2: 1, 3: 0} {
		if got := len(p.match([]uint64{h})); got != want {
			t.Errorf("match(%d) = %d blocks after one was taken, want %d", h, got, want)
		}
	}
	if len(p.match([]uint64{1, 9, 2})) != 1 {
		t.Errorf("match goes on behind an unknown block")
	}
}

func TestCacheOff(t *testing.T) {
	t.Parallel()
	p := newBlockPool(2, 4, false)
	b := p.take()
	p.publish(b, 7)
	if got := p.match([]uint64{7}); len(got) != 0 {
		t.Errorf("match(7) = %v without a cache, want nothing", got)
	}
}
