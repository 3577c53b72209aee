package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

func newSplitter(kind string, raw json.RawMessage) (splitter, error) {
	switch kind {
	case "Split":
		return newPatternSplit(raw)
	case "ByteLevel":
		return newByteLevel(raw)
	case "Metaspace":
		return newMetaspace(raw)
	case "Digits":
		var f struct {
			Type       string `json:"type"`
			Individual bool   `json:"individual_digits"`
		}
		b := contiguous
		err := decodeStrict(raw, &f)
		if f.Individual {
			b = isolated
		}
		return patternSplit{pattern: pattern.Each(unicode.IsNumber), behaviour: b}, err
	case "WhitespaceSplit":
		return patternSplit{pattern: pattern.Each(unicode.IsSpace), behaviour: removed}, onlyType(raw)
	case "Whitespace":
		return whitespace{}, onlyType(raw)
	}

	return nil, errNotImplemented
}

func newByteLevel(raw json.RawMessage) (*byteLevel, error) {
	f := struct {
		Type        string `json:"type"`
		PrefixSpace bool   `json:"add_prefix_space"`
		TrimOffsets bool   `json:"trim_offsets"` // moves offsets, never ids
		UseRegex    *bool  `json:"use_regex"`
	}{PrefixSpace: true}
	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}

	b := &byteLevel{prefixSpace: f.PrefixSpace, alphabet: newByteAlphabet()}
	if f.UseRegex == nil || *f.UseRegex {
		re, err := pattern.NewRegex(byteLevelExpr)
		if err != nil {
			return nil, err
		}
		b.words = patternSplit{pattern: re, behaviour: isolated}
	}

	return b, nil
}

// metaspace writes blanks as a visible character and cuts before it.
type metaspace struct {
	mark   string
	scheme string // "always", "first" or "never" put one in front
	cut    bool
}

// metaspaceJSON is shared by the pre-tokenizer and the decoder.
type metaspaceJSON struct {
	Type        string  `json:"type"`
	Replacement string  `json:"replacement"`
	PrefixSpace *bool   `json:"add_prefix_space"`
	StrRep      *string `json:"str_rep"`
	Scheme      string  `json:"prepend_scheme"`
	Split       *bool   `json:"split"`
}

func newMetaspace(raw json.RawMessage) (*metaspace, error) {
	f := metaspaceJSON{Scheme: "always"}
	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}
	if f.PrefixSpace != nil && !*f.PrefixSpace {
		if f.Scheme == "first" {
			return nil, fmt.Errorf("add_prefix_space false against prepend_scheme %q", f.Scheme)
		}
		f.Scheme = "never"
	}

	if n := len([]rune(f.Replacement)); n != 1 {
		return nil, fmt.Errorf("replacement %q: want one character", f.Replacement)
	}

	switch f.Scheme {
	case "always", "first", "never":
	default:
		return nil, fmt.Errorf("prepend_scheme %q is not implemented", f.Scheme)
	}

	return &metaspace{mark: f.Replacement, scheme: f.Scheme, cut: f.Split == nil || *f.Split}, nil
}

func (m *metaspace) split(dst []piece, p piece) ([]piece, error) {
	p.text = strings.ReplaceAll(p.text, " ", m.mark)
	prepend := m.scheme == "always" || m.scheme == "first" && p.first
	if prepend && !strings.HasPrefix(p.text, m.mark) {
		p.text = m.mark + p.text
	}
	if !m.cut {
		return append(dst, p), nil
	}
	return patternSplit{pattern: pattern.Literal(m.mark), behaviour: mergedWithNext}.split(dst, p)
}

// whitespace keeps runs of word characters and runs of other characters, and
// drops blanks.
type whitespace struct{}

func (whitespace) split(dst []piece, p piece) ([]piece, error) {
	const blank = 0
	class := func(r rune) int {
		switch {
		case unicode.IsSpace(r):
			return blank
		case isWord(r):
			return 1
		}
		return 2
	}

	start, current := 0, blank
	flush := func(end int) {
		if current != blank && end > start {
			dst = append(dst, piece{text: p.text[start:end], first: p.first && start == 0})
		}
	}

	for at, r := range p.text {
		if c := class(r); c != current {
			flush(at)
			start, current = at, c
		}
	}

	flush(len(p.text))
	return dst, nil
}

// isWord is \w of Unicode's recommendations.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc,
		unicode.Join_Control)
}
