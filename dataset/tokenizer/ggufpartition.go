package tokenizer

import (
	"slices"
	"strings"
)

// ggufSpecials takes special tokens out of a text as llama.cpp does: one token
// after the other, longest first, each from left to right.
type ggufSpecials struct {
	tokens    []token // longest first
	trie      *tokenTrie
	normalize func(string) string
}

func newGGUFSpecials(v *ggufVocabulary, normalize func(string) string) *ggufSpecials {
	s := &ggufSpecials{trie: newTokenTrie(), normalize: normalize}
	for id, kind := range v.kinds {
		text, _ := v.text(id)
		if text == "" || kind != kindControl && kind != kindUnknown && kind != kindUserDefined {
			continue
		}
		s.tokens = append(s.tokens, token{id: id, text: text})
	}
	slices.SortStableFunc(s.tokens, func(a, b token) int { return len(b.text) - len(a.text) })
	for i, t := range s.tokens {
		s.trie.add(t.text, addedToken{ID: i})
	}
	return s
}

func (s *ggufSpecials) partition(text string) ([]piece, error) {
	pieces := []piece{{text: text, first: true}}
	for _, index := range s.present(text) {
		pieces = s.take(pieces, s.tokens[index])
	}
	for i := range pieces {
		if p := &pieces[i]; !p.token && p.text != "" {
			p.text = s.normalize(p.text)
		}
	}
	return pieces, nil
}

// present lists the tokens that occur in text, by index.
func (s *ggufSpecials) present(text string) []int {
	var found []int
	for at := range len(text) {
		if !s.trie.begins[text[at]] {
			continue
		}
		node := s.trie.root
		for i := at; i < len(text); i++ {
			if node = node.next[text[i]]; node == nil {
				break
			}
			if node.token >= 0 {
				found = append(found, s.trie.tokens[node.token].ID)
			}
		}
		if len(found) > 2*len(s.tokens) {
			slices.Sort(found)
			found = slices.Compact(found)
		}
	}

	slices.Sort(found)
	return slices.Compact(found)
}

// take cuts the pieces that are text at each place where t stands.
func (s *ggufSpecials) take(pieces []piece, t token) []piece {
	out := make([]piece, 0, len(pieces)+2)
	for _, p := range pieces {
		if p.token || !strings.Contains(p.text, t.text) {
			out = append(out, p)
			continue
		}
		for rest := p.text; rest != ""; {
			before, after, found := strings.Cut(rest, t.text)
			if before != "" {
				out = append(out, piece{text: before})
			}
			if found {
				out = append(out, piece{text: t.text, id: t.id, token: true})
			}
			rest = after
		}
	}

	return out
}
