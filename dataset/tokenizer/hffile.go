package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// hfFile is a tokenizer.json.
type hfFile struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         hfModel         `json:"model"`
}

// hfModel is the model of a tokenizer.json. Fields of other models than BPE
// are named so that those are refused by their type and not by a key.
type hfModel struct {
	Type         string          `json:"type"`
	Dropout      *float64        `json:"dropout"`
	Unknown      *string         `json:"unk_token"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	Vocab        json.RawMessage `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
	UnknownID    json.RawMessage `json:"unk_id"`
	MaxChars     json.RawMessage `json:"max_input_chars_per_word"`
}

// parseHF builds a tokenizer of a tokenizer.json and what is beside it, if
// cfg is not nil.
func parseHF(data []byte, cfg *config) (*Tokenizer, error) {
	var f hfFile
	if err := decodeStrict(data, &f); err != nil {
		return nil, err
	}
	if f.Version != "1.0" {
		return nil, fmt.Errorf("version %q: want \"1.0\"", f.Version)
	}

	m, err := newHFModel(&f.Model)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}

	t := &Tokenizer{model: m, vocab: m.vocab, vocabSize: m.vocab.size()}
	if err := t.addHFTokens(&f, cfg); err != nil {
		return nil, err
	}
	if t.splitters, err = partsOf(f.PreTokenizer, "pretokenizers", 0, newSplitter); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if cfg != nil && cfg.PrefixSpace != nil && len(t.splitters) == 1 {
		if b, ok := t.splitters[0].(*byteLevel); ok {
			b.prefixSpace = *cfg.PrefixSpace
		}
	}

	t.mapBytesInModel(m)
	if t.decoder, err = newDecoder(f.Decoder); err == nil {
		err = checkGrowth(f.Decoder)
	}
	if err != nil {
		return nil, fmt.Errorf("decoder: %w", err)
	}

	t.cleanUp = cfg != nil && cfg.CleanUp
	around, err := newFrame(f.PostProcessor)
	if err != nil {
		return nil, fmt.Errorf("post_processor: %w", err)
	}
	if cfg != nil {
		if around, err = cfg.frame(around, t.vocab); err != nil {
			return nil, err
		}
	}

	return t, t.setFrame(around)
}

// setFrame takes what goes around a sequence, if the vocabulary has it.
func (t *Tokenizer) setFrame(f frame) error {
	for _, id := range slices.Concat(f.before, f.after) {
		if _, known := t.vocab.text(id); !known {
			return fmt.Errorf("post_processor: no token has id %d", id)
		}
	}
	t.before, t.after = f.before, f.after
	return nil
}

// mapBytesInModel leaves writing bytes in the alphabet to the model where
// nothing comes between: the model does it once for each word it meets.
func (t *Tokenizer) mapBytesInModel(m *bpe) {
	if n := len(t.splitters); n > 0 {
		if b, ok := t.splitters[n-1].(*byteLevel); ok {
			b.modelMaps = true
			m.alphabet = b.alphabet
		}
	}
}

func newHFModel(f *hfModel) (*bpe, error) {
	if f.Type != "BPE" && (f.Type != "" || isNull(f.Merges)) {
		return nil, fmt.Errorf("%s: %w", f.Type, errNotImplemented)
	}
	if f.Dropout != nil && *f.Dropout != 0 {
		return nil, fmt.Errorf("dropout %v: %w", *f.Dropout, errNotImplemented)
	}
	if f.Prefix != nil && *f.Prefix != "" {
		return nil, fmt.Errorf("continuing_subword_prefix %q: %w", *f.Prefix, errNotImplemented)
	}
	if f.Suffix != nil && *f.Suffix != "" {
		return nil, fmt.Errorf("end_of_word_suffix %q: %w", *f.Suffix, errNotImplemented)
	}

	vocab, err := parseVocab(f.Vocab)
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}

	merges, err := parseMerges(f.Merges)
	if err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}

	m := newBPE(vocab, len(merges))
	for rank, pair := range merges {
		if err := m.addMerge(pair[0], pair[1], rank); err != nil {
			return nil, err
		}
	}

	m.wholeWords, m.fuseUnknown = f.IgnoreMerges, f.FuseUnknown
	if f.ByteFallback {
		m.useByteTokens()
	}
	if f.Unknown != nil {
		id, ok := vocab.id(*f.Unknown)
		if !ok {
			return nil, fmt.Errorf("unk_token %q is not in the vocabulary", *f.Unknown)
		}
		m.unknown = id
	}

	return m, nil
}

func parseVocab(raw json.RawMessage) (*vocabulary, error) {
	var ids map[string]int
	if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, err
	}
	v := newVocabulary(len(ids))
	for text, id := range ids {
		if err := v.add(text, id); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// parseMerges reads "a b" or ["a", "b"].
func parseMerges(raw json.RawMessage) ([][2]string, error) {
	if isNull(raw) {
		return nil, errors.New("missing")
	}
	if !holdsLists(raw) {
		var lines []string
		if err := json.Unmarshal(raw, &lines); err != nil {
			return nil, err
		}
		return splitMerges(lines)
	}

	var lists [][]string
	if err := json.Unmarshal(raw, &lists); err != nil {
		return nil, err
	}

	out := make([][2]string, len(lists))
	for i, l := range lists {
		if len(l) != 2 {
			return nil, fmt.Errorf("merge %d %q: want two tokens", i, l)
		}
		out[i] = [2]string{l[0], l[1]}
	}

	return out, nil
}

// holdsLists reports whether the first item of a list is a list.
func holdsLists(raw []byte) bool {
	const blanks = " \t\r\n"
	items := bytes.TrimPrefix(bytes.TrimLeft(raw, blanks), []byte("["))
	return bytes.HasPrefix(bytes.TrimLeft(items, blanks), []byte("["))
}

func splitMerges(lines []string) ([][2]string, error) {
	out := make([][2]string, 0, len(lines))
	for i, line := range lines {
		if strings.HasPrefix(line, "#version") {
			continue
		}
		left, right, ok := strings.Cut(line, " ")
		if !ok || left == "" || right == "" || strings.Contains(right, " ") {
			return nil, fmt.Errorf("merge %d %q: want two tokens with one blank between", i, line)
		}
		out = append(out, [2]string{left, right})
	}
	return out, nil
}

// addHFTokens takes the added tokens of the file and of the configuration.
func (t *Tokenizer) addHFTokens(f *hfFile, cfg *config) error {
	n, err := newNormalizer(f.Normalizer)
	if err == nil {
		err = checkGrowth(f.Normalizer)
	}
	if err != nil {
		return fmt.Errorf("normalizer: %w", err)
	}

	added := &addedList{vocab: t.vocab, byContent: map[string]int{}}
	for _, token := range f.AddedTokens {
		if err := added.take(token, token.ID); err != nil {
			return fmt.Errorf("added_tokens: %w", err)
		}
	}

	if cfg != nil {
		if err := cfg.addTokens(added); err != nil {
			return fmt.Errorf("%s: %w", configFile, err)
		}
	}

	t.skipped = map[int]bool{}
	for _, token := range added.tokens {
		if token.Special {
			t.skipped[token.ID] = true
			t.special = append(t.special, token.ID)
		}
	}

	if cfg != nil {
		t.special = nil
		for _, role := range cfg.roles {
			if id, known := t.vocab.anyID(role.Content); known {
				t.special = append(t.special, id)
			}
		}
	}

	slices.Sort(t.special)
	t.special = slices.Compact(t.special)
	t.fragments, err = newAddedTokens(added.inOrder(), n)
	return err
}

// addedList collects added tokens as the library does on loading: one that
// the model knows keeps the model's id, another gets the next free one.
type addedList struct {
	vocab     *vocabulary
	tokens    []addedToken
	byContent map[string]int // index in tokens
	next      int            // 0: not yet known
}

// take adds a token; want is the id that the file says, -1: none.
func (a *addedList) take(token addedToken, want int) error {
	if token.Content == "" {
		return nil
	}
	if index, there := a.byContent[token.Content]; there {
		token.ID = a.tokens[index].ID
		if want >= 0 && want != token.ID {
			return fmt.Errorf("token %q has the ids %d and %d", token.Content, token.ID, want)
		}
		a.tokens[index] = token
		return nil
	}

	id, known := a.vocab.id(token.Content)
	if !known {
		// The number of tokens, or one more than the highest added so far.
		id = max(a.next, a.vocab.size())
		if a.next == 0 {
			id = a.vocab.size()
		}
	}

	if want >= 0 && want != id {
		return fmt.Errorf("token %q has id %d in the file, and %d where it is loaded", token.Content, want, id)
	}
	if !known {
		if err := a.vocab.addOutside(token.Content, id); err != nil {
			return err
		}
		a.next = id + 1
	}

	token.ID = id
	a.byContent[token.Content] = len(a.tokens)
	a.tokens = append(a.tokens, token)
	return nil
}

// inOrder puts special tokens first: of equal contents the first one counts.
func (a *addedList) inOrder() []addedToken {
	out := slices.Clone(a.tokens)
	slices.SortStableFunc(out, func(x, y addedToken) int {
		switch {
		case x.Special == y.Special:
			return 0
		case x.Special:
			return -1
		}
		return 1
	})
	return out
}
