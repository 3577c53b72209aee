package tokenizer

import "strings"

// trained is a vocabulary made of a corpus.
type trained struct {
	tokens []string // specials, then units, then what merges make
	merges []string // "a b"
}

// train makes byte pair encodings: it joins the most frequent neighbours, the
// first in order of equals, until there are size tokens.
func train(specials, units []string, words [][]string, size int) trained {
	out := trained{tokens: append(append([]string{}, specials...), units...)}
	known := map[string]bool{}
	for _, t := range out.tokens {
		known[t] = true
	}
	for len(out.tokens) < size {
		counts := map[[2]string]int{}
		for _, w := range words {
			for i := 1; i < len(w); i++ {
				counts[[2]string{w[i-1], w[i]}]++
			}
		}
		best, most := [2]string{}, 0
		for pair, n := range counts {
			joined := pair[0] + pair[1]
			if strings.Contains(joined, " ") || known[joined] {
				continue
			}
			if n > most || n == most && (pair[0] < best[0] || pair[0] == best[0] && pair[1] < best[1]) {
				best, most = pair, n
			}
		}
		if most == 0 {
			break
		}
		out.merges = append(out.merges, best[0]+" "+best[1])
		out.tokens = append(out.tokens, best[0]+best[1])
		known[best[0]+best[1]] = true
		for i, w := range words {
			words[i] = joinPair(w, best)
		}
	}
	return out
}

func joinPair(word []string, pair [2]string) []string {
	out := word[:0]
	for i := 0; i < len(word); i++ {
		if i+1 < len(word) && word[i] == pair[0] && word[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
		} else {
			out = append(out, word[i])
		}
	}
	return out
}

// characters is a text as units of one character.
func characters(text string) []string { return strings.Split(text, "") }

// byteUnits are the 256 characters of the byte alphabet.
func byteUnits() []string {
	var out []string
	for _, r := range newByteAlphabet().runes {
		out = append(out, string(r))
	}
	return out
}

// trainBytes trains on texts cut by split.
func trainBytes(specials []string, texts []string, split splitter, size int) trained {
	alphabet := newByteAlphabet()
	var words [][]string
	for _, text := range texts {
		pieces := []piece{{text: text}}
		if split != nil {
			var err error
			if pieces, err = split.split(nil, pieces[0]); err != nil {
				panic(err)
			}
		}
		for _, p := range pieces {
			words = append(words, characters(alphabet.encode(p.text)))
		}
	}
	return train(specials, byteUnits(), words, size)
}
