package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/benchrig/bench/dataset/tokenizer/pattern"
	"github.com/benchrig/bench/dataset/tokenizer/unicodeform"
)

// normalizer rewrites a text before it is cut.
type normalizer func(string) (string, error)

// newNormalizer reads a normalizer; null changes nothing.
func newNormalizer(raw json.RawMessage) (normalizer, error) {
	steps, err := partsOf(raw, "normalizers", 0, simpleNormalizer)
	return chain(steps), err
}

// chain runs steps one after the other.
func chain(steps []normalizer) normalizer {
	return func(text string) (string, error) {
		for _, step := range steps {
			var err error
			if text, err = step(text); err != nil {
				return "", err
			}
		}
		return text, nil
	}
}

func simpleNormalizer(kind string, raw json.RawMessage) (normalizer, error) {
	switch kind {
	case "NFC":
		return inForm(norm.NFC), onlyType(raw)
	case "NFD":
		return inForm(norm.NFD), onlyType(raw)
	case "NFKC":
		return inForm(norm.NFKC), onlyType(raw)
	case "NFKD":
		return inForm(norm.NFKD), onlyType(raw)
	case "Lowercase":
		return plain(lower), onlyType(raw)
	case "Prepend":
		return newPrepend(raw)
	case "Replace":
		return newReplace(raw)
	case "Strip":
		return newStrip(raw)
	}

	return nil, errNotImplemented
}

func plain(f func(string) string) normalizer {
	return func(text string) (string, error) { return f(text), nil }
}

// lower maps each character by itself; strings.ToLower loses the dot that
// belongs to U+0130.
func lower(text string) string {
	return strings.ToLower(strings.ReplaceAll(text, "\u0130", "i\u0307"))
}

func newPrepend(raw json.RawMessage) (normalizer, error) {
	var f struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	err := decodeStrict(raw, &f)
	return plain(func(text string) string {
		if text == "" {
			return ""
		}
		return f.Prepend + text
	}), err
}

// replaceJSON is shared by the normalizer and the decoder.
type replaceJSON struct {
	Type    string          `json:"type"`
	Pattern json.RawMessage `json:"pattern"`
	Content string          `json:"content"`
}

func newReplace(raw json.RawMessage) (normalizer, error) {
	var f replaceJSON
	if err := decodeStrict(raw, &f); err != nil {
		return nil, err
	}
	p, err := newPattern(f.Pattern)
	if err != nil {
		return nil, err
	}
	return func(text string) (string, error) { return pattern.ReplaceAll(p, text, f.Content) }, nil
}

func newStrip(raw json.RawMessage) (normalizer, error) {
	var f struct {
		Type  string `json:"type"`
		Left  bool   `json:"strip_left"`
		Right bool   `json:"strip_right"`
	}

	err := decodeStrict(raw, &f)
	return plain(func(text string) string {
		if f.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if f.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}), err
}

// inForm normalizes text to a Unicode form.
func inForm(form norm.Form) normalizer {
	return plain(func(text string) string { return unicodeform.Of(form, text) })
}
