package tokenizer

import (
	"container/heap"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
)

// spaceMark stands for a blank in SentencePiece vocabularies.
const spaceMark = "\u2581"

// spm is SentencePiece's byte pair encoding as llama.cpp does it: of all
// neighbours that make a token, those with the highest score are joined first,
// the leftmost of equals.
type spm struct {
	vocab      *ggufVocabulary
	byteTokens [256]int // -1: none
	pool       sync.Pool
}

// useSPM sets the tokenizer up for tokenizer.ggml.model "llama".
func (t *Tokenizer) useSPM(keys *gguf.Keys, vocab *ggufVocabulary) error {
	if len(vocab.scores) == 0 {
		return fmt.Errorf("%s: missing", keyScores)
	}

	m := &spm{vocab: vocab}
	for b := range m.byteTokens {
		id, known := vocab.id(fmt.Sprintf("<0x%02X>", b))
		if !known {
			id, known = vocab.id(string([]byte{byte(b)}))
		}
		if !known {
			return fmt.Errorf("token <0x%02X>: missing", b)
		}
		m.byteTokens[b] = id
	}

	m.pool.New = func() any { return new(spmWord) }
	prefix := " "
	if add, there := keys.Values["tokenizer.ggml.add_space_prefix"].(bool); there && !add {
		prefix = ""
	}
	if collapse, _ := keys.Values["tokenizer.ggml.remove_extra_whitespaces"].(bool); collapse {
		return errors.New("tokenizer.ggml.remove_extra_whitespaces: not implemented")
	}

	t.model = m
	t.fragments = newGGUFSpecials(vocab, func(text string) string {
		return strings.ReplaceAll(prefix+text, " ", spaceMark)
	})

	t.decoder = ggufDecoder{vocab: vocab, prefix: prefix}
	return nil
}

// spmWord is one fragment while it is joined.
type spmWord struct {
	text    string
	symbols []spmSymbol
	pairs   spmPairs
}

// spmSymbol is a part of the text; size 0: joined with one before it.
type spmSymbol struct {
	start, size int32
	prev, next  int32
}

type spmPair struct {
	score       float64
	left, right int32
	size        int32
}

// spmPairs is a heap, best pair first.
type spmPairs []spmPair

func (p spmPairs) Len() int { return len(p) }

func (p spmPairs) Less(i, j int) bool {
	return p[i].score > p[j].score || p[i].score == p[j].score && p[i].left < p[j].left
}
func (p spmPairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }

// Push is part of heap.Interface.
func (p *spmPairs) Push(x any) {
	if pair, ok := x.(spmPair); ok {
		*p = append(*p, pair)
	}
}

// Pop is part of heap.Interface.
func (p *spmPairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

func (m *spm) appendIDs(dst []int, word string) []int {
	w, _ := m.pool.Get().(*spmWord)
	defer m.pool.Put(w)

	w.reset(word)
	for i := 1; i < len(w.symbols); i++ {
		m.consider(w, int32(i-1), int32(i))
	}

	for len(w.pairs) > 0 {
		pair, _ := heap.Pop(&w.pairs).(spmPair)
		left, right := &w.symbols[pair.left], &w.symbols[pair.right]
		if left.size == 0 || right.size == 0 || left.size+right.size != pair.size {
			continue
		}
		left.size += right.size
		right.size = 0
		left.next = right.next
		if left.next >= 0 {
			w.symbols[left.next].prev = pair.left
		}
		m.consider(w, left.prev, pair.left)
		m.consider(w, pair.left, left.next)
	}

	for at := int32(0); at >= 0 && len(w.symbols) > 0; at = w.symbols[at].next {
		dst = m.appendSymbol(dst, w.part(at))
	}

	return dst
}

// appendSymbol appends the token of a symbol, or those of its bytes. Symbols
// are single characters or tokens, so nothing lies between.
func (m *spm) appendSymbol(dst []int, text string) []int {
	if id, known := m.vocab.id(text); known {
		return append(dst, id)
	}
	for _, b := range []byte(text) {
		dst = append(dst, m.byteTokens[b])
	}
	return dst
}

// consider queues two neighbours if they make a token.
func (m *spm) consider(w *spmWord, left, right int32) {
	if left < 0 || right < 0 {
		return
	}
	start := w.symbols[left].start
	size := w.symbols[left].size + w.symbols[right].size
	id, known := m.vocab.id(w.text[start : start+size])
	if !known {
		return
	}
	heap.Push(&w.pairs, spmPair{score: m.vocab.scores[id], left: left, right: right, size: size})
}

func (w *spmWord) part(at int32) string {
	s := w.symbols[at]
	return w.text[s.start : s.start+s.size]
}

func (w *spmWord) reset(text string) {
	const keep = 1 << 16
	if cap(w.symbols) > keep {
		w.symbols, w.pairs = nil, nil
	}
	w.text, w.symbols, w.pairs = text, w.symbols[:0], w.pairs[:0]
	for at, r := range text {
		i := int32(len(w.symbols))
		w.symbols = append(w.symbols, spmSymbol{start: int32(at), size: int32(runeLen(r)), prev: i - 1, next: i + 1})
	}
	if n := len(w.symbols); n > 0 {
		w.symbols[n-1].next = -1
	}
}
