package tokenizer

import (
	"fmt"
	"sync"
)

// bpe is byte pair encoding: the pair of neighbours with the lowest rank is
// joined first, the leftmost of equals.
type bpe struct {
	vocab  *vocabulary
	merges map[uint64]merge
	words  wordCache
	pool   sync.Pool // of *mergeQueue

	alphabet    *byteAlphabet // not nil: words come as text and are written in it
	wholeWords  bool          // a word that is a token is not taken apart
	byteTokens  []int         // of <0x00> to <0xFF>, -1 where there is none; nil: no fallback
	unknown     int           // -1: characters without a token are left out
	fuseUnknown bool
}

// merge is what a pair becomes.
type merge struct {
	rank  int32
	token int32
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

func newBPE(vocab *vocabulary, merges int) *bpe {
	m := &bpe{vocab: vocab, merges: make(map[uint64]merge, merges), unknown: -1}
	m.pool.New = func() any { return new(mergeQueue) }
	return m
}

// addMerge lets left and right join at the next rank.
func (m *bpe) addMerge(left, right string, rank int) error {
	l, okLeft := m.vocab.id(left)
	r, okRight := m.vocab.id(right)
	both, okBoth := m.vocab.id(left + right)
	if !okLeft || !okRight || !okBoth {
		return fmt.Errorf("merge %d (%q and %q): a token of it is not in the vocabulary", rank, left, right)
	}
	m.merges[pairKey(int32(l), int32(r))] = merge{rank: int32(rank), token: int32(both)}
	return nil
}

// useByteTokens looks up the tokens of single bytes.
func (m *bpe) useByteTokens() {
	m.byteTokens = make([]int, 256)
	for b := range m.byteTokens {
		m.byteTokens[b] = -1
		if id, ok := m.vocab.id(fmt.Sprintf("<0x%02X>", b)); ok {
			m.byteTokens[b] = id
		}
	}
}

func (m *bpe) appendIDs(dst []int, word string) []int {
	if ids, ok := m.words.get(word); ok {
		return append(dst, ids...)
	}
	start := len(dst)
	dst = m.appendWord(dst, word)
	m.words.put(word, dst[start:])
	return dst
}

func (m *bpe) appendWord(dst []int, word string) []int {
	if m.alphabet != nil {
		word = m.alphabet.encode(word)
	}
	if m.wholeWords {
		if id, ok := m.vocab.id(word); ok {
			return append(dst, id)
		}
	}
	q, _ := m.pool.Get().(*mergeQueue)
	defer m.pool.Put(q)
	q.reset()
	m.addSymbols(q, word)
	q.run(m.merges)
	return q.appendIDs(dst)
}

// addSymbols fills q with the ids of the characters of word. Pending unknown
// characters come out before the next one that is known, bytes excepted: that
// is the order of the library whose files these are.
func (m *bpe) addSymbols(q *mergeQueue, word string) {
	pending := false
	for at, r := range word {
		char := word[at : at+runeLen(r)]
		if id, ok := m.vocab.id(char); ok {
			if pending {
				q.add(m.unknown)
				pending = false
			}
			q.add(id)
			continue
		}
		if m.addBytes(q, char) || m.unknown < 0 {
			continue
		}
		if pending && !m.fuseUnknown {
			q.add(m.unknown)
		}
		pending = true
	}

	if pending {
		q.add(m.unknown)
	}
}

// addBytes adds the tokens of a character's bytes if all of them exist.
func (m *bpe) addBytes(q *mergeQueue, char string) bool {
	if m.byteTokens == nil {
		return false
	}
	for _, b := range []byte(char) {
		if m.byteTokens[b] < 0 {
			return false
		}
	}
	for _, b := range []byte(char) {
		q.add(m.byteTokens[b])
	}
	return true
}
