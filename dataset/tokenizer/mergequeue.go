package tokenizer

import "unicode/utf8"

func runeLen(r rune) int { return max(1, utf8.RuneLen(r)) }

// shortWord is the length up to which looking at every pair is faster than
// keeping a heap.
const shortWord = 24

// mergeQueue joins the symbols of one word: a linked list of symbols and a
// heap of the pairs that can join, lowest rank first, leftmost of equals. The
// time is n log n in the length of the word.
type mergeQueue struct {
	symbols []symbol
	heap    []candidate
}

// symbol is a node of the list; id -1: joined with the one before it.
type symbol struct {
	id         int32
	prev, next int32
}

// candidate is a pair that could join when it was seen.
type candidate struct {
	rank  int32
	at    int32 // index of the left symbol
	token int32 // what it becomes
}

func (c candidate) less(o candidate) bool {
	return c.rank < o.rank || c.rank == o.rank && c.at < o.at
}

func (q *mergeQueue) reset() {
	const keep = 1 << 16
	if cap(q.symbols) > keep {
		q.symbols, q.heap = nil, nil
	}
	q.symbols, q.heap = q.symbols[:0], q.heap[:0]
}

func (q *mergeQueue) add(id int) {
	n := int32(len(q.symbols))
	q.symbols = append(q.symbols, symbol{id: int32(id), prev: n - 1, next: n + 1})
}

func (q *mergeQueue) run(merges map[uint64]merge) {
	if len(q.symbols) == 0 {
		return
	}
	q.symbols[len(q.symbols)-1].next = -1
	if len(q.symbols) <= shortWord {
		q.runShort(merges)
	} else {
		q.runHeap(merges)
	}
}

// runHeap keeps the pairs that can join in order.
func (q *mergeQueue) runHeap(merges map[uint64]merge) {
	for i := range q.symbols[:len(q.symbols)-1] {
		q.consider(merges, int32(i))
	}

	for len(q.heap) > 0 {
		c := q.pop()
		left := q.symbols[c.at]
		if left.id < 0 || left.next < 0 {
			continue
		}
		// The pair may have changed since; then it was considered again.
		m, ok := merges[pairKey(left.id, q.symbols[left.next].id)]
		if !ok || m.token != c.token {
			continue
		}
		q.join(c.at, c.token)
		if left.prev >= 0 {
			q.consider(merges, left.prev)
		}
		q.consider(merges, c.at)
	}
}

// runShort looks at every pair each time, on ranks that are looked up once.
func (q *mergeQueue) runShort(merges map[uint64]merge) {
	var found [shortWord]merge
	look := func(at int32) {
		found[at] = merge{rank: -1}
		if next := q.symbols[at].next; next >= 0 {
			if m, ok := merges[pairKey(q.symbols[at].id, q.symbols[next].id)]; ok {
				found[at] = m
			}
		}
	}

	for i := range q.symbols {
		look(int32(i))
	}

	for {
		best := int32(-1)
		for at := int32(0); at >= 0; at = q.symbols[at].next {
			if found[at].rank >= 0 && (best < 0 || found[at].rank < found[best].rank) {
				best = at
			}
		}
		if best < 0 {
			return
		}
		q.join(best, found[best].token)
		look(best)
		if prev := q.symbols[best].prev; prev >= 0 {
			look(prev)
		}
	}
}

// join makes the symbol at and the one after it one.
func (q *mergeQueue) join(at, token int32) {
	gone := q.symbols[at].next
	after := q.symbols[gone].next
	q.symbols[gone].id = -1
	q.symbols[at].id, q.symbols[at].next = token, after
	if after >= 0 {
		q.symbols[after].prev = at
	}
}

// consider queues the pair that begins at if it can join.
func (q *mergeQueue) consider(merges map[uint64]merge, at int32) {
	next := q.symbols[at].next
	if next < 0 {
		return
	}
	if m, ok := merges[pairKey(q.symbols[at].id, q.symbols[next].id)]; ok {
		q.push(candidate{rank: m.rank, at: at, token: m.token})
	}
}

func (q *mergeQueue) appendIDs(dst []int) []int {
	if len(q.symbols) == 0 {
		return dst
	}
	for at := int32(0); at >= 0; at = q.symbols[at].next {
		dst = append(dst, int(q.symbols[at].id))
	}
	return dst
}

func (q *mergeQueue) push(c candidate) {
	q.heap = append(q.heap, c)
	for i := len(q.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if !q.heap[i].less(q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *mergeQueue) pop() candidate {
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && q.heap[child+1].less(q.heap[child]) {
			child++
		}
		if !q.heap[child].less(q.heap[i]) {
			return top
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}
