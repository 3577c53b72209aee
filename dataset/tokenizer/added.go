package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is taken out of a text before the model sees it.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only between characters that are not part of words
	LStrip     bool   `json:"lstrip"`      // takes the blanks before it along
	RStrip     bool   `json:"rstrip"`      // takes the blanks after it along
	Normalized bool   `json:"normalized"`  // looked for in the normalized text
	Special    bool   `json:"special"`
}

// addedTokens finds added tokens: first those of the text as it is, then, in
// what is left, normalized piece by piece, the others.
type addedTokens struct {
	raw, normalized *tokenTrie
	normalize       normalizer
}

// newAddedTokens takes tokens in order of precedence.
func newAddedTokens(tokens []addedToken, n normalizer) (*addedTokens, error) {
	a := &addedTokens{raw: newTokenTrie(), normalized: newTokenTrie(), normalize: n}
	for _, t := range tokens {
		if !t.Normalized {
			a.raw.add(t.Content, t)
			continue
		}
		content, err := n(t.Content)
		if err != nil {
			return nil, err
		}
		a.normalized.add(content, t)
	}
	return a, nil
}

func (a *addedTokens) partition(text string) ([]piece, error) {
	var out []piece
	for _, p := range a.raw.cut(nil, text, true) {
		if p.token {
			out = append(out, p)
			continue
		}
		normal, err := a.normalize(p.text)
		if err != nil {
			return nil, err
		}
		out = a.normalized.cut(out, normal, p.first)
	}
	return out, nil
}

// tokenTrie finds the longest of many tokens at a place.
type tokenTrie struct {
	tokens []addedToken
	begins [256]bool
	root   *trieNode
}

type trieNode struct {
	next  map[byte]*trieNode
	token int // index, -1: none ends here
}

func newTrieNode() *trieNode {
	return &trieNode{next: map[byte]*trieNode{}, token: -1}
}

func newTokenTrie() *tokenTrie { return &tokenTrie{root: newTrieNode()} }

// add puts a token in unless there is one with the same content.
func (t *tokenTrie) add(content string, token addedToken) {
	if content == "" {
		return
	}

	t.begins[content[0]] = true
	at := t.root
	for _, b := range []byte(content) {
		if at.next[b] == nil {
			at.next[b] = newTrieNode()
		}
		at = at.next[b]
	}

	if at.token < 0 {
		at.token = len(t.tokens)
		t.tokens = append(t.tokens, token)
	}
}

// longest measures the longest token that text begins with; 0: none.
func (t *tokenTrie) longest(text string) (length, token int) {
	at := t.root
	for i := range len(text) {
		if at = at.next[text[i]]; at == nil {
			break
		}
		if at.token >= 0 {
			length, token = i+1, at.token
		}
	}
	return length, token
}

// cut appends the pieces of text. first says whether text begins the whole.
func (t *tokenTrie) cut(dst []piece, text string, first bool) []piece {
	done := 0
	for at := 0; at < len(text); {
		if !t.begins[text[at]] {
			at++
			continue
		}
		length, index := t.longest(text[at:])
		if length == 0 {
			at++
			continue
		}
		token := t.tokens[index]
		start, end := at, at+length
		at = end
		if token.SingleWord && !standsAlone(text, start, end) {
			continue
		}
		if token.LStrip {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if token.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if done < start {
			dst = append(dst, piece{text: text[done:start], first: first && done == 0})
		}
		dst = append(dst, piece{text: text[start:end], id: token.ID, token: true})
		done = end
	}

	if done < len(text) {
		dst = append(dst, piece{text: text[done:], first: first && done == 0})
	}

	return dst
}

// standsAlone reports whether no word continues at either end.
func standsAlone(text string, start, end int) bool {
	before, n := utf8.DecodeLastRuneInString(text[:start])
	after, m := utf8.DecodeRuneInString(text[end:])
	return (n == 0 || !isWord(before)) && (m == 0 || !isWord(after))
}
