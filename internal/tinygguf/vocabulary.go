package tinygguf

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed words.txt
var wordList string

// Token kinds of the GGUF format.
const (
	kindNormal  = 1
	kindUnknown = 2
	kindControl = 3
	kindUnused  = 5
	kindByte    = 6
)

// Token ids with a meaning of their own.
const (
	unknownID = 0
	startID   = 1
	endID     = 2
)

// space is how a sentencepiece vocabulary writes the blank before a word.
const space = "▁"

// vocabulary is a sentencepiece (BPE by score) vocabulary.
type vocabulary struct {
	tokens []string
	scores []float32
	kinds  []int32
	ids    map[string]int
}

// newVocabulary holds control tokens, the 256 bytes, the printable ASCII
// characters and some hundred whole words. A word is reached by merging one
// character after the other, so its beginnings are tokens too.
func newVocabulary() *vocabulary {
	v := &vocabulary{ids: make(map[string]int, VocabSize)}
	v.add("<unk>", 0, kindUnknown)
	for _, control := range []string{"<s>", "</s>", "<|im_start|>", "<|im_end|>"} {
		v.add(control, 0, kindControl)
	}

	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), 0, kindByte)
	}

	v.add(space, -1000, kindNormal)
	for c := '!'; c <= '~'; c++ {
		v.add(string(c), -1000-float32(c), kindNormal)
	}

	for word := range strings.FieldsSeq(wordList) {
		for end := 1; end <= len(word); end++ {
			v.add(space+word[:end], -float32(end), kindNormal)
		}
	}

	for n := 0; len(v.tokens) < VocabSize; n++ {
		v.add(fmt.Sprintf("<unused%d>", n), 0, kindUnused)
	}

	return v
}

// add appends a token unless it is there already.
func (v *vocabulary) add(token string, score float32, kind int32) {
	if _, there := v.ids[token]; there {
		return
	}
	v.ids[token] = len(v.tokens)
	v.tokens = append(v.tokens, token)
	v.scores = append(v.scores, score)
	v.kinds = append(v.kinds, kind)
}

// biases gives each token's logit an offset: ordinary text none, everything
// else far below. An answer is then valid UTF-8 in whole tokens: some servers
// break off a stream whose bytes are not, and hold back parts of a character.
func (v *vocabulary) biases(naturalStops bool) []float64 {
	const banned, likelyStop = -60, 6
	out := make([]float64, len(v.tokens))
	for id, kind := range v.kinds {
		if kind != kindNormal {
			out[id] = banned
		}
	}
	if naturalStops {
		out[endID] = likelyStop
	}
	return out
}
