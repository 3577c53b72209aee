package simengine

import "slices"

// blockPool hands out KV blocks by number. Blocks that nobody uses keep their
// content until they are needed for something else: that is the prefix cache.
// The block unused for longest is taken first, as in vLLM.
type blockPool struct {
	size   int // tokens a block
	total  int
	cache  bool
	ref    []int32  // users of each block touched so far
	hash   []uint64 // content; 0: not to be shared
	prev   []int32  // the list of unused blocks, oldest first
	next   []int32
	head   int32
	tail   int32
	unused int // length of that list
	byHash map[uint64]int32
}

const none int32 = -1

func newBlockPool(total, size int, cache bool) *blockPool {
	return &blockPool{size: size, total: total, cache: cache, head: none, tail: none, byHash: map[uint64]int32{}}
}

// free is the number of blocks that can be taken.
func (p *blockPool) free() int { return p.total - len(p.ref) + p.unused }

// usage is the share of blocks in use, 0 to 1.
func (p *blockPool) usage() float64 { return float64(p.total-p.free()) / float64(p.total) }

// take returns an empty block with one user. The caller has asked free first.
func (p *blockPool) take() int32 {
	if len(p.ref) < p.total {
		p.ref = append(p.ref, 1)
		p.hash = append(p.hash, 0)
		p.prev = append(p.prev, none)
		p.next = append(p.next, none)
		return int32(len(p.ref) - 1)
	}

	b := p.head
	p.unlink(b)
	if p.hash[b] != 0 {
		delete(p.byHash, p.hash[b])
		p.hash[b] = 0
	}

	p.ref[b] = 1
	return b
}

// share adds a user to a block found by its content.
func (p *blockPool) share(b int32) {
	if p.ref[b] == 0 {
		p.unlink(b)
	}
	p.ref[b]++
}

// release takes one user off each block, the last first, so that the ends of
// sequences are forgotten before their beginnings.
func (p *blockPool) release(blocks []int32) {
	for _, b := range slices.Backward(blocks) {
		p.ref[b]--
		if p.ref[b] == 0 {
			p.append(b)
		}
	}
}

// publish says what a full block holds, so that others can share it.
func (p *blockPool) publish(b int32, hash uint64) {
	if !p.cache || p.hash[b] != 0 {
		return
	}
	if _, known := p.byHash[hash]; known {
		return
	}
	p.hash[b] = hash
	p.byHash[hash] = b
}

// match returns the longest run of blocks known under the given hashes.
func (p *blockPool) match(hashes []uint64) []int32 {
	if !p.cache {
		return nil
	}
	var found []int32
	for _, h := range hashes {
		b, ok := p.byHash[h]
		if !ok {
			break
		}
		found = append(found, b)
	}
	return found
}

// reset forgets all content. It does so only while no block is in use.
func (p *blockPool) reset() bool {
	if p.free() != p.total {
		return false
	}
	*p = *newBlockPool(p.total, p.size, p.cache)
	return true
}

func (p *blockPool) append(b int32) {
	p.prev[b], p.next[b] = p.tail, none
	if p.tail == none {
		p.head = b
	} else {
		p.next[p.tail] = b
	}
	p.tail = b
	p.unused++
}

func (p *blockPool) unlink(b int32) {
	before, after := p.prev[b], p.next[b]
	if before == none {
		p.head = after
	} else {
		p.next[before] = after
	}
	if after == none {
		p.tail = before
	} else {
		p.prev[after] = before
	}
	p.unused--
}
