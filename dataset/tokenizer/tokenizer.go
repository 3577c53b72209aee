// Package tokenizer turns text into token ids and back as the tokenizer of a
// model does, in this process.
//
// What goes in: a Hugging Face tokenizer.json, a folder that holds one, or a
// GGUF file with a vocabulary inside. What comes out: ids that equal those of
// the library that serves such a file (Hugging Face tokenizers, llama.cpp).
// It never guesses: a file that asks for something that is not implemented is
// refused by Load, with the name of what it asked for. It needs no network.
package tokenizer

import (
	"fmt"
	"slices"
	"strings"
)

// Tokenizer is one loaded vocabulary with its rules. It is safe for use by
// several goroutines at once.
type Tokenizer struct {
	name   string
	sha256 string

	vocab     *vocabulary
	vocabSize int // tokens of the model alone
	special   []int
	skipped   map[int]bool // ids that Decode leaves out if asked to

	fragments partitioner
	splitters []splitter
	model     model
	before    []int // ids that open a sequence
	after     []int // ids that close it

	decoder decoder
	cleanUp bool // drop blanks before punctuation, as the configuration asks
}

// piece is a part of a text on its way to ids.
type piece struct {
	text  string
	id    int  // of an added token, if token is true
	token bool // text is an added token and goes no further
	first bool // nothing of the text came before it
}

// partitioner takes added tokens out of a text and normalizes what is left.
type partitioner interface {
	partition(text string) ([]piece, error)
}

// splitter cuts a piece into smaller ones and appends them.
type splitter interface {
	split(dst []piece, p piece) ([]piece, error)
}

// model appends the ids of one word.
type model interface {
	appendIDs(dst []int, word string) []int
}

// Encode returns the ids of text. Added tokens that are in the text, special
// or not, become their ids. With special, the ids that open and close a
// sequence are put around it. Bytes that are not UTF-8 count as U+FFFD, one
// for each maximal part of a character.
func (t *Tokenizer) Encode(text string, special bool) ([]int, error) {
	pieces, err := t.fragments.partition(lossyUTF8(text))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}

	for _, s := range t.splitters {
		if pieces, err = splitAll(pieces, s); err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
	}

	ids := make([]int, 0, len(text)/3+len(t.before)+len(t.after)+1)
	if special {
		ids = append(ids, t.before...)
	}

	for _, p := range pieces {
		if p.token {
			ids = append(ids, p.id)
		} else if p.text != "" {
			ids = t.model.appendIDs(ids, p.text)
		}
	}

	if special {
		ids = append(ids, t.after...)
	}

	return ids, nil
}

func splitAll(pieces []piece, s splitter) ([]piece, error) {
	out := make([]piece, 0, len(pieces))
	for _, p := range pieces {
		if p.token {
			out = append(out, p)
			continue
		}
		var err error
		if out, err = s.split(out, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Decode returns the text of ids, special tokens left out if skipSpecial is
// true. The answer is valid UTF-8: bytes that make no character become
// U+FFFD. An id that no token has is an error.
func (t *Tokenizer) Decode(ids []int, skipSpecial bool) (string, error) {
	tokens := make([]token, 0, len(ids))
	for _, id := range ids {
		text, known := t.vocab.text(id)
		if !known {
			return "", fmt.Errorf("decode id %d: the vocabulary has no such token", id)
		}
		if skipSpecial && t.skipped[id] {
			continue
		}
		tokens = append(tokens, token{id: id, text: text})
	}

	text := t.decoder.decode(tokens)
	if t.cleanUp {
		text = cleanUpBlanks(text)
	}

	return text, nil
}

// cleanUpBlanks is what clean_up_tokenization_spaces asks for, in that order.
func cleanUpBlanks(text string) string {
	for _, tail := range []string{".", "?", "!", ","} {
		text = strings.ReplaceAll(text, " "+tail, tail)
	}
	text = strings.ReplaceAll(text, " ' ", "'")
	for _, tail := range []string{"n't", "'m", "'s", "'ve", "'re"} {
		text = strings.ReplaceAll(text, " "+tail, tail)
	}
	return text
}

// VocabSize is how many tokens the model has, without added ones.
func (t *Tokenizer) VocabSize() int { return t.vocabSize }

// SpecialIDs are the ids of the tokens with a role (beginning, end, unknown,
// padding ...), ascending. Where no configuration gives roles: all added
// tokens that are marked special.
func (t *Tokenizer) SpecialIDs() []int { return slices.Clone(t.special) }

// SpecialAdded is how many ids Encode puts around a text with special.
func (t *Tokenizer) SpecialAdded() int { return len(t.before) + len(t.after) }

// Name is the path's last part that distinguishes vocabularies: the folder of a
// tokenizer.json, else the file.
func (t *Tokenizer) Name() string { return t.name }

// SHA256 is the digest of the tokenizer.json, or of a GGUF file up to the end
// of its key-values, in hex.
func (t *Tokenizer) SHA256() string { return t.sha256 }
