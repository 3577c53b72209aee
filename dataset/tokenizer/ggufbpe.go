package tokenizer

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

// How the models cut words, by their names in GGUF files.
const (
	gpt2Expr   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)`
	shortExpr  = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])`
	llama3Expr = shortExpr + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen2Expr  = shortExpr + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	gpt4oExpr  = `[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+` + shortExpr +
		`?|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*` + shortExpr +
		`?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	tekkenExpr = `[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+|[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// preTokenizer is what a name in tokenizer.ggml.pre stands for.
type preTokenizer struct {
	exprs      []string // each cuts what the one before left
	wholeWords bool
	bos        bool // a sequence is opened unless the file says otherwise
}

// preTokenizerOf knows the names that were compared with llama.cpp.
func preTokenizerOf(name string) (preTokenizer, error) {
	switch name {
	case "", "default":
		return preTokenizer{exprs: []string{`[\p{P}\$\+<=>\^~\|]+`, gpt2Expr, `\p{N}+`, `[0-9][0-9][0-9]`}}, nil
	case "gpt-2", "phi-2", "olmo", "jais", "trillion", "granite-docling":
		return preTokenizer{exprs: []string{gpt2Expr}}, nil
	case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b":
		return preTokenizer{exprs: []string{`\p{N}`, gpt2Expr}}, nil
	case "llama3", "llama-v3", "llama-bpe", "falcon3":
		return preTokenizer{exprs: []string{llama3Expr}, wholeWords: true, bos: true}, nil
	case "dbrx", "smaug-bpe":
		return preTokenizer{exprs: []string{llama3Expr}}, nil
	case "qwen2", "stablelm2", "deepseek-r1-qwen", "megrez":
		return preTokenizer{exprs: []string{qwen2Expr}}, nil
	case "tekken":
		return preTokenizer{exprs: []string{tekkenExpr}, wholeWords: true, bos: true}, nil
	case "gpt-4o", "llama4":
		return preTokenizer{exprs: []string{gpt4oExpr}}, nil
	case "deepseek-v3":
		return preTokenizer{exprs: []string{
			`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`,
			"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " +
				"?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
		}}, nil
	}

	return preTokenizer{}, fmt.Errorf("%s %q: %w", keyPre, name, errNotImplemented)
}

// useGGUFMerges sets the tokenizer up for tokenizer.ggml.model "gpt2" and reports
// whether a sequence is opened unless the file says otherwise.
func (t *Tokenizer) useGGUFMerges(keys *gguf.Keys, vocab *ggufVocabulary) (bos bool, err error) {
	name, _ := keys.Values[keyPre].(string)
	pre, err := preTokenizerOf(name)
	if err != nil {
		return false, err
	}

	for _, expr := range pre.exprs {
		re, err := pattern.NewRegex(expr)
		if err != nil {
			return false, err
		}
		t.splitters = append(t.splitters, patternSplit{pattern: re, behaviour: isolated})
	}

	lines, _ := keys.Values[keyMerges].([]string)
	m := newBPE(vocab.vocabulary, len(lines))
	for rank, line := range lines {
		// A token may begin with a blank; the blank between comes later.
		at := -1
		if len(line) > 1 {
			at = strings.IndexByte(line[1:], ' ')
		}
		if at < 0 {
			return false, fmt.Errorf("%s: merge %d %q: want two tokens with one blank between", keyMerges, rank, line)
		}
		if err := m.addMerge(line[:at+1], line[at+2:], rank); err != nil {
			return false, err
		}
	}

	m.alphabet, m.wholeWords = newByteAlphabet(), pre.wholeWords
	t.model = m
	t.fragments = newGGUFSpecials(vocab, func(text string) string { return text })
	t.decoder = ggufDecoder{vocab: vocab, alphabet: m.alphabet}
	return pre.bos, nil
}
