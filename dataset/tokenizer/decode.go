package tokenizer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

// token is an id with its text in the vocabulary.
type token struct {
	id   int
	text string
}

// decoder makes text of tokens. It may change the slice.
type decoder interface {
	decode(tokens []token) string
}

// step is a part of a chain of decoders.
type step func(tokens []string) []string

// steps are run one after the other; what they leave is joined.
type steps struct {
	do        []step
	separator string
}

func (s steps) decode(tokens []token) string {
	parts := make([]string, len(tokens))
	for i, t := range tokens {
		parts[i] = t.text
	}
	for _, do := range s.do {
		parts = do(parts)
	}
	return strings.Join(parts, s.separator)
}

func newDecoder(raw json.RawMessage) (decoder, error) {
	if isNull(raw) {
		return steps{separator: " "}, nil
	}
	do, err := partsOf(raw, "decoders", 0, newStep)
	return steps{do: do}, err
}

func newStep(kind string, raw json.RawMessage) (step, error) {
	switch kind {
	case "ByteLevel":
		b, err := newByteLevel(raw)
		if err != nil {
			return nil, err
		}
		return b.join, nil
	case "ByteFallback":
		return joinByteTokens, onlyType(raw)
	case "Fuse":
		return fuse, onlyType(raw)
	case "Replace":
		return newReplaceStep(raw)
	case "Strip":
		return newStripStep(raw)
	case "Metaspace":
		m, err := newMetaspace(raw)
		if err != nil {
			return nil, err
		}
		return m.blanks, nil
	}

	return nil, errNotImplemented
}

func fuse(tokens []string) []string { return []string{strings.Join(tokens, "")} }

func (b *byteLevel) join(tokens []string) []string {
	var out []byte
	for _, t := range tokens {
		out = b.alphabet.appendBytes(out, t)
	}
	return []string{lossyUTF8(string(out))}
}

// joinByteTokens makes text of runs of <0x..>; a run that is not UTF-8 gives
// one U+FFFD for each byte.
func joinByteTokens(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		if utf8.Valid(run) && len(run) > 0 {
			out = append(out, string(run))
		} else {
			out = append(out, strings.Repeat("\ufffd", len(run)))
		}
		run = run[:0]
	}

	for _, t := range tokens {
		if b, ok := byteToken(t); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, t)
	}

	flush()
	return out
}

// byteToken reads <0x41>.
func byteToken(t string) (byte, bool) {
	if len(t) != 6 || t[:3] != "<0x" || t[5] != '>' {
		return 0, false
	}
	b, err := strconv.ParseUint(t[3:5], 16, 8)
	return byte(b), err == nil
}

func newReplaceStep(raw json.RawMessage) (step, error) {
	var f replaceJSON
	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}

	p, err := newPattern(f.Pattern)
	if err != nil {
		return nil, err
	}

	l, ok := p.(pattern.Literal)
	if !ok {
		return nil, fmt.Errorf("a Regex: %w", errNotImplemented)
	}

	return func(tokens []string) []string {
		for i := range tokens {
			tokens[i] = strings.ReplaceAll(tokens[i], string(l), f.Content)
		}
		return tokens
	}, nil
}

func newStripStep(raw json.RawMessage) (step, error) {
	var f struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
	}

	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(f.Content) != 1 {
		return nil, fmt.Errorf("content %q: want one character", f.Content)
	}

	return func(tokens []string) []string {
		for i, t := range tokens {
			for n := 0; n < f.Start && strings.HasPrefix(t, f.Content); n++ {
				t = t[len(f.Content):]
			}
			for n := 0; n < f.Stop && strings.HasSuffix(t, f.Content); n++ {
				t = t[:len(t)-len(f.Content)]
			}
			tokens[i] = t
		}
		return tokens
	}, nil
}

// blanks undoes the pre-tokenizer, without the blank it put in front.
func (m *metaspace) blanks(tokens []string) []string {
	for i, t := range tokens {
		blank := " "
		if i == 0 && m.scheme != "never" {
			blank = ""
		}
		tokens[i] = strings.ReplaceAll(t, m.mark, blank)
	}
	return tokens
}
